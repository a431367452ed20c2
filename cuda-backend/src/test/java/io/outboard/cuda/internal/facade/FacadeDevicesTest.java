package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** This class tests several devices, contexts and threads. */
class FacadeDevicesTest {

    private final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
    private final ExecutorService other = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        other.shutdownNow();
    }

    private <T> T onOther(final Callable<T> task) throws InterruptedException, ExecutionException {
        return other.submit(task).get();
    }

    @Test
    void shouldFollowTheDeviceOfEachThread() throws InterruptedException, ExecutionException {
        program.runtime.cudaSetDevice(1);
        final long mine = program.malloc(1);
        final long others = onOther(() -> program.malloc(1));
        program.runtime.cudaSetDevice(0);
        final long later = program.malloc(1);

        assertAll(
                () -> assertTrue(program.pool(1).contains(mine)),
                () -> assertTrue(program.pool(0).contains(others), "a new thread uses device 0"),
                () -> assertTrue(program.pool(0).contains(later)),
                () -> assertEquals(FakeProgram.FIRST_REGION_BYTES, program.cuda.usedBytes(1)));
    }

    @Test
    void shouldStayOnTheDeviceWhenTheNextDoesNotExist() {
        assertEquals(cudaError.cudaErrorInvalidDevice, program.runtime.cudaSetDevice(7));

        assertTrue(program.pools.ofDevice(0) == null);
        program.malloc(1);
        assertEquals(1, program.pool(0).statistics().liveBlocks());
    }

    @Test
    void shouldFreeFromAnyThreadAndDevice() throws InterruptedException, ExecutionException {
        program.runtime.cudaSetDevice(1);
        final long address = program.malloc(1000);

        assertEquals(0, onOther(() -> program.free(address)));

        assertEquals(0, program.pool(1).statistics().liveBlocks());
    }

    @Test
    void shouldGrowInThePoolsContextFromAThreadThatHasNone() throws InterruptedException, ExecutionException {
        final CUcontext context = new CUcontext();
        program.driver.cuCtxCreate(context, 0, DevicePointers.withHandle(new CUdevice(), 1));
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, program.driver.cuMemAlloc(pointer, 1));
        final Pool pool = program.pool(1);

        final long grown = onOther(() -> pool.allocate(2 * FakeProgram.FIRST_REGION_BYTES));

        assertAll(
                () -> assertTrue(pool.contains(grown)),
                () -> assertEquals(0, program.cuda.usedBytes(0)),
                () -> assertEquals(0, onOther(program.cuda::currentContextOrZero), "its context is as before"));
    }

    @Test
    void shouldKeepContextsApart() {
        final CUcontext context = new CUcontext();
        final long ofPrimary = program.malloc(1);
        program.driver.cuCtxCreate(context, 0, new CUdevice());
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, program.driver.cuMemAlloc(pointer, 1));
        program.driver.cuCtxDestroy(context);

        assertAll(
                () -> assertNull(program.pools.owner(DevicePointers.address(pointer)), "gone with its context"),
                () -> assertTrue(program.pool(0).contains(ofPrimary)),
                () -> assertEquals(0, program.free(ofPrimary)));
    }

    @Test
    void shouldFollowTheContextOfTheThread() {
        final CUcontext first = new CUcontext();
        final CUcontext second = new CUcontext();
        program.driver.cuCtxCreate(first, 0, new CUdevice());
        final CUdeviceptr ofFirst = new CUdeviceptr();
        program.driver.cuMemAlloc(ofFirst, 1);
        program.driver.cuCtxCreate(second, 0, new CUdevice());
        final CUdeviceptr ofSecond = new CUdeviceptr();
        program.driver.cuMemAlloc(ofSecond, 1);
        program.driver.cuCtxPushCurrent(first);
        final CUdeviceptr pushed = new CUdeviceptr();
        program.driver.cuMemAlloc(pushed, 1);
        program.driver.cuCtxPopCurrent(new CUcontext());
        final CUdeviceptr popped = new CUdeviceptr();
        program.driver.cuMemAlloc(popped, 1);
        program.driver.cuCtxSetCurrent(first);
        final CUdeviceptr set = new CUdeviceptr();
        program.driver.cuMemAlloc(set, 1);

        final ContextPool inFirst = owner(ofFirst);
        assertAll(
                () -> assertNotEquals(inFirst, owner(ofSecond)),
                () -> assertEquals(inFirst, owner(pushed)),
                () -> assertEquals(owner(ofSecond), owner(popped)),
                () -> assertEquals(inFirst, owner(set)));
    }

    /** CUDA's current device is that of the thread that carries a virtual thread, which changes without notice. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void shouldAskForTheDeviceOfAVirtualThreadEachTime() throws Exception {
        final FutureTask<Long> task = new FutureTask<>(() -> {
            program.malloc(1);
            // From here on, another thread seems to carry the virtual thread.
            program.cuda.setDevice(1);
            return program.malloc(1);
        });
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        task.get();

        assertEquals(1, program.pool(1).statistics().liveBlocks());
    }

    private ContextPool owner(final CUdeviceptr pointer) {
        return Objects.requireNonNull(program.pools.owner(DevicePointers.address(pointer)));
    }

    @Test
    void shouldDropThePoolOnReset() throws InterruptedException, ExecutionException {
        final long before = program.malloc(1);
        onOther(() -> program.malloc(1));
        final Pool dropped = program.pool(0);

        assertEquals(0, program.runtime.cudaDeviceReset());

        assertAll(
                () -> assertEquals(cudaError.cudaErrorInvalidValue, program.free(before)),
                () -> assertFalse(dropped.contains(onOther(() -> program.malloc(1)))),
                () -> assertEquals(1, program.pool(0).statistics().liveBlocks()),
                () -> assertEquals(FakeProgram.FIRST_REGION_BYTES, program.cuda.usedBytes(0)));
    }

    /** If the program's own context is current at a reset, CUDA returns success, and both contexts stay as they are. */
    @Test
    void shouldKeepThePoolsOnAResetWithTheProgramsOwnContext() {
        final long ofPrimary = program.malloc(1);
        program.driver.cuCtxCreate(new CUcontext(), 0, new CUdevice());
        final long first = program.malloc(1);
        final long second = program.malloc(1);

        assertEquals(0, program.runtime.cudaDeviceReset());

        assertAll(
                () -> assertEquals(0, program.free(first)),
                () -> assertEquals(0, program.free(ofPrimary)),
                () -> assertEquals(List.of("cudaDeviceReset"), program.jcuda.calls(), "the pools free it"),
                () -> assertTrue(program.cuda.isAllocated(second)),
                () -> assertEquals(0, program.free(second)));
    }

    @Test
    void shouldDropThePoolOnAResetFromAThreadWithoutContext() throws InterruptedException, ExecutionException {
        final long address = program.malloc(1);

        assertEquals(0, onOther(program.runtime::cudaDeviceReset));

        assertNull(program.pools.owner(address));
    }

    @Test
    void shouldDropThePoolWhenTheDriverResetsThePrimaryContext() {
        final long address = program.malloc(1);

        assertEquals(0, program.driver.cuDevicePrimaryCtxReset(new CUdevice()));

        assertAll(
                () -> assertNull(program.pools.owner(address)),
                () -> assertTrue(program.cuda.isAllocated(program.malloc(1))));
    }

    @Test
    void shouldDropThePoolWithTheLastReleaseOfThePrimaryContext() {
        final CUcontext primary = new CUcontext();
        assertEquals(0, program.driver.cuDevicePrimaryCtxRetain(primary, new CUdevice()));
        assertEquals(0, program.driver.cuDevicePrimaryCtxRetain(primary, new CUdevice()));
        program.driver.cuCtxSetCurrent(primary);
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, program.driver.cuMemAlloc(pointer, 1));

        assertEquals(0, program.driver.cuDevicePrimaryCtxRelease(new CUdevice()));
        final ContextPool kept = program.pools.owner(DevicePointers.address(pointer));
        assertEquals(0, program.driver.cuDevicePrimaryCtxRelease(new CUdevice()));
        final ContextPool dropped = program.pools.owner(DevicePointers.address(pointer));
        assertEquals(0, program.driver.cuDevicePrimaryCtxRetain(primary, new CUdevice()));
        assertEquals(0, program.driver.cuMemAlloc(pointer, 1));

        assertAll(
                () -> assertNotNull(kept, "somebody holds it still"),
                () -> assertNull(dropped),
                () -> assertNotNull(program.pools.owner(DevicePointers.address(pointer)), "it is there again"));
    }

    @Test
    void shouldDropThePoolWithTheLastDetach() {
        final CUcontext context = new CUcontext();
        program.driver.cuCtxCreate(context, 0, new CUdevice());
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, program.driver.cuMemAlloc(pointer, 1));
        program.jcuda.attach();

        assertEquals(0, program.driver.cuCtxDetach(context));
        final ContextPool kept = program.pools.owner(DevicePointers.address(pointer));
        assertEquals(0, program.driver.cuCtxDetach(context));

        assertAll(
                () -> assertNotNull(kept),
                () -> assertNull(program.pools.owner(DevicePointers.address(pointer))),
                () -> assertTrue(program.cuda.isAllocated(program.malloc(1)), "of the primary context"));
    }

    @Test
    void shouldAllocateInTheContextOfTheStream() {
        program.runtime.cudaSetDevice(1);
        final long stream = program.createStream();
        program.runtime.cudaSetDevice(0);

        final long address = program.mallocAsync(1000, stream);

        assertAll(
                () -> assertTrue(program.pool(1).contains(address)),
                () -> assertEquals(0, program.freeAsync(address, stream)),
                () -> assertEquals(0, program.pool(1).statistics().liveBlocks()));
    }

    /** The stream belongs to a context that no facade has seen. */
    @Test
    void shouldLeaveAStreamToTheDriverWhoseContextHasNoPool() {
        program.malloc(1);
        program.cuda.setContext(program.cuda.createContext(1));
        final long stream = program.createStream();

        final long address = program.mallocAsync(1000, stream);

        assertAll(
                () -> assertNull(program.pools.owner(address)),
                () -> assertEquals(0, program.freeAsync(address, stream)),
                () -> assertEquals(List.of("cuMemAllocAsync", "cuMemFreeAsync"), program.jcuda.calls()));
    }

    // The following tests are about pools that are made before the first allocation.

    @Test
    void shouldMakeThePoolWhenTheDeviceIsChosen() {
        assertEquals(0, program.runtime.cudaSetDevice(1));

        assertAll(
                () -> assertNotNull(program.pools.ofDevice(1)),
                () -> assertEquals(0, program.pool(1).statistics().allocations()));
        final int events = program.cuda.streams().eventsCreated();
        program.free(program.malloc(1000));
        assertEquals(events, program.cuda.streams().eventsCreated());
    }

    /** A free of null is the usual way to make a context. */
    @Test
    void shouldMakeThePoolWhenNullIsFreed() {
        program.cuda.setDevice(0);
        assertNull(program.pools.ofDevice(0));

        assertEquals(0, program.free(0));

        assertNotNull(program.pools.ofDevice(0));
    }

    @Test
    void shouldMakeThePoolWithAContext() {
        final CUcontext context = new CUcontext();
        assertEquals(0, program.driver.cuCtxCreate(context, 0, DevicePointers.withHandle(new CUdevice(), 1)));
        assertNotNull(program.pools.ofDevice(1));

        program.cuda.setContext(program.cuda.createContext(0));
        assertEquals(
                0,
                program.driver.cuCtxSetCurrent(
                        DevicePointers.withHandle(new CUcontext(), program.cuda.currentContextOrZero())));

        assertNotNull(program.pools.ofDevice(0));
    }

    /** The call must succeed, since the program didn't ask for a pool. */
    @Test
    void shouldNotFailWhereThePoolCannotBeMadeYet() {
        program.cuda.streams().failCreate(cudaError.cudaErrorMemoryAllocation);

        assertEquals(0, program.runtime.cudaSetDevice(0));

        assertNull(program.pools.ofDevice(0));
        final long address = program.malloc(1);
        assertTrue(program.pool(0).contains(address));
    }

    @Test
    void shouldTakeOptionsUntilMemoryIsAskedFor() {
        assertEquals(0, program.runtime.cudaSetDevice(0));
        final ContextPool early = program.pools.ofDevice(0);

        program.pools.configure(OutboardOptions.ofProperties().withFirstRegionBytes(6 << 20));

        assertNotEquals(early, program.pools.ofDevice(0));
        program.malloc(1);
        assertEquals(6 << 20, program.pool(0).statistics().heldBytes());
    }

    @Test
    void shouldRefuseOptionsThatComeTooLate() {
        program.malloc(1);

        assertThrows(IllegalStateException.class, () -> program.pools.configure(OutboardOptions.ofProperties()));
    }
}
