package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.FakeVirtualMemory;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.pool.ReusePolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** This class tests facades whose pools' memory grows in place, belongs to no context, and moves. */
class FacadeGrowthInPlaceTest {

    private static final long MIB = 1L << 20;
    private static final long DEVICE_BYTES = 512 * MIB;

    private final FakeVirtualMemory memory = new FakeVirtualMemory(DEVICE_BYTES);
    private final FakeProgram program = new FakeProgram(ReusePolicy.STRICT, memory);

    private boolean isAccessible(final long address, final long bytes, final int device) {
        return memory.isAccessible(address, bytes, device);
    }

    /** CUDA's own functions serve a large block from scattered memory, too. */
    @Test
    void shouldServeABlockOfScatteredMemory() {
        final List<Long> blocks = new ArrayList<>();
        for (long left = DEVICE_BYTES; left > 0; left -= 16 * MIB) {
            blocks.add(program.malloc(16 * MIB));
        }
        for (int i = 0; i < blocks.size(); i += 2) {
            assertEquals(0, program.free(blocks.get(i)));
        }

        final long large = program.malloc(DEVICE_BYTES / 2);

        assertTrue(isAccessible(large, DEVICE_BYTES / 2, 0));
        assertTrue(program.pool(0).contains(large));
        for (int i = 1; i < blocks.size(); i += 2) {
            assertTrue(isAccessible(blocks.get(i), 16 * MIB, 0));
        }
        assertEquals(DEVICE_BYTES, memory.usedBytes());
        assertFalse(program.jcuda.calls().contains("cudaMalloc"));
    }

    @Test
    void shouldTakeLittleAtFirst() {
        program.pools.configure(OutboardOptions.defaults());
        program.malloc(1);
        assertEquals(64 * MIB, memory.usedBytes());
    }

    @Test
    void shouldTakeWholeRegionsIfToldTo() {
        program.pools.configure(OutboardOptions.defaults()
                .withFirstRegionBytes(FakeProgram.FIRST_REGION_BYTES)
                .withGrowInPlace(false));
        program.malloc(1);
        assertEquals(0, memory.usedBytes());
        assertEquals(FakeProgram.FIRST_REGION_BYTES, program.cuda.usedBytes(0));
    }

    private void configure(final UnaryOperator<OutboardOptions> change) {
        program.pools.configure(
                change.apply(OutboardOptions.defaults().withFirstRegionBytes(FakeProgram.FIRST_REGION_BYTES)));
    }

    private void awaitNothingUsed() throws InterruptedException {
        for (int i = 0; i < 3000 && memory.usedBytes() > 0; i++) {
            Thread.sleep(10);
        }
        assertEquals(0, memory.usedBytes());
    }

    @Test
    void shouldGiveBackWhatWasNotNeededForSomeTime() throws InterruptedException {
        configure(options -> options.withKeep(Duration.ofMillis(20)));
        assertEquals(0, program.free(program.malloc(160 * MIB)));
        awaitNothingUsed();
        assertTrue(program.malloc(160 * MIB) > 0);
    }

    @Test
    void shouldGiveBackWhileTheDeviceHasLittle() throws InterruptedException {
        configure(options -> options.withLeaveBytes(FakeCuda.TOTAL_BYTES + 200 * MIB));
        assertEquals(0, program.free(program.malloc(160 * MIB)));
        awaitNothingUsed();
    }

    /** Destroying a context that is in use elsewhere is an error that the driver needn't report. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotEndAContextThatAThreadOfThePoolUses(final boolean primary) throws InterruptedException {
        configure(options -> options.withKeep(Duration.ofMillis(5)));
        final CUcontext context = primary ? new CUcontext() : contextOn(0);
        final String ends = primary ? "cudaDeviceReset" : "cuCtxDestroy";
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch left = new CountDownLatch(1);
        final AtomicBoolean meanwhile = new AtomicBoolean();
        program.cuda.streams().duringQuery(() -> {
            if (Thread.currentThread().getName().equals("outboard-idle")) {
                entered.countDown();
                LockSupport.parkNanos(100_000_000);
                meanwhile.compareAndSet(false, program.jcuda.calls().contains(ends));
                left.countDown();
            }
        });
        assertEquals(0, program.free(program.malloc(160 * MIB)));
        assertTrue(entered.await(10, TimeUnit.SECONDS));

        assertEquals(0, primary ? program.runtime.cudaDeviceReset() : program.driver.cuCtxDestroy(context));

        assertEquals(0, memory.usedBytes());
        assertTrue(program.jcuda.calls().contains(ends));
        assertTrue(left.await(10, TimeUnit.SECONDS));
        assertFalse(meanwhile.get());
    }

    /** CUDA frees what belongs to a context, but this memory doesn't. */
    @Test
    void shouldGiveAllBackWhenTheDeviceIsReset() {
        final long block = program.malloc(100 * MIB);
        assertTrue(memory.usedBytes() > 0);

        assertEquals(0, program.runtime.cudaDeviceReset());

        assertEquals(0, memory.usedBytes());
        assertEquals(0, memory.reservedBytes());
        assertNotEquals(0, program.free(block));
        assertTrue(program.malloc(100 * MIB) > 0);
    }

    @Test
    void shouldGiveAllBackWhenAContextEnds() {
        final CUcontext context = contextOn(0);
        assertEquals(0, program.driver.cuMemAlloc(new CUdeviceptr(), 10 * MIB));

        assertEquals(0, program.driver.cuCtxDestroy(context));

        assertEquals(0, memory.usedBytes());
        assertEquals(0, memory.reservedBytes());
    }

    /** Memory whose return fails is lost, but the program goes on. */
    @Test
    void shouldGoOnIfTheDriverFailsWhenAContextEnds() {
        program.malloc(10 * MIB);
        memory.failAt(1, CUresult.CUDA_ERROR_UNKNOWN);

        assertEquals(0, program.runtime.cudaDeviceReset());

        assertTrue(program.malloc(10 * MIB) > 0);
    }

    /** Allocates 10 MiB of device 1's memory; afterwards the thread uses device 0, which has a pool, too. */
    private long allocateOnTheOtherDevice() {
        program.runtime.cudaSetDevice(1);
        final long block = program.malloc(10 * MIB);
        program.runtime.cudaSetDevice(0);
        program.malloc(1);
        return block;
    }

    @Test
    void shouldShowMemoryToAnotherDevice() {
        final long before = allocateOnTheOtherDevice();
        assertFalse(isAccessible(before, 10 * MIB, 0));

        assertEquals(0, program.runtime.cudaDeviceEnablePeerAccess(1, 0));

        assertTrue(isAccessible(before, 10 * MIB, 0));
        program.runtime.cudaSetDevice(1);
        final long after = program.malloc(100 * MIB);
        assertTrue(isAccessible(after, 100 * MIB, 0));
        program.runtime.cudaSetDevice(0);
        assertFalse(isAccessible(program.malloc(1), 1, 1), "not the other way round");
        assertEquals(0, program.runtime.cudaDeviceDisablePeerAccess(1));
        assertFalse(isAccessible(before, 10 * MIB, 0));
        assertTrue(isAccessible(before, 10 * MIB, 1));
    }

    @Test
    void shouldShowMemoryOfAPoolThatIsMadeLater() {
        final CUcontext context = contextOn(1);
        program.driver.cuCtxPopCurrent(new CUcontext());
        program.runtime.cudaSetDevice(0);
        program.malloc(1);
        assertEquals(0, program.driver.cuCtxEnablePeerAccess(context, 0));

        program.driver.cuCtxPushCurrent(context);
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, program.driver.cuMemAlloc(pointer, 10 * MIB));

        assertTrue(isAccessible(DevicePointers.address(pointer), 10 * MIB, 0));
    }

    @Test
    void shouldShowNothingWhereCudaRefuses() {
        final long block = allocateOnTheOtherDevice();
        program.jcuda.answerPeers(cudaError.cudaErrorPeerAccessUnsupported);

        assertEquals(cudaError.cudaErrorPeerAccessUnsupported, program.runtime.cudaDeviceEnablePeerAccess(1, 0));

        assertFalse(isAccessible(block, 10 * MIB, 0));
    }

    private CUcontext contextOn(final int device) {
        final CUcontext context = new CUcontext();
        assertEquals(0, program.driver.cuCtxCreate(context, 0, DevicePointers.withHandle(new CUdevice(), device)));
        return context;
    }

    /** A device has access, not a context; formerly, one of two contexts gave it up for both. */
    @Test
    void shouldShowMemoryAsLongAsAnyContextOfADeviceMaySeeIt() {
        final CUcontext owner = contextOn(1);
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, program.driver.cuMemAlloc(pointer, 10 * MIB));
        final long address = DevicePointers.address(pointer);
        final CUcontext first = contextOn(0);
        assertEquals(0, program.driver.cuCtxEnablePeerAccess(owner, 0));
        contextOn(0);
        assertEquals(0, program.driver.cuCtxEnablePeerAccess(owner, 0));

        assertEquals(0, program.driver.cuCtxDisablePeerAccess(owner));
        assertTrue(isAccessible(address, 10 * MIB, 0));
        assertEquals(0, program.driver.cuCtxDestroy(first));

        assertFalse(isAccessible(address, 10 * MIB, 0), "the last one is gone");
        assertTrue(isAccessible(address, 10 * MIB, 1));
    }

    /**
     * The call finds its pool, and then another thread ends the context: the call must return a code, and not throw.
     */
    @Test
    void shouldAnswerByACodeWhenTheContextEndsMeanwhile() {
        final ContextPool pool = Objects.requireNonNull(program.pools.ofThread(true));

        assertEquals(0, program.runtime.cudaDeviceReset());

        assertEquals(ContextPool.NOT_SERVED, pool.allocate(1));
        assertEquals(ContextPool.NOT_SERVED, pool.allocate(200 * MIB));
        assertFalse(pool.giveBackUnused());
    }

    @Test
    void shouldShowMemoryToADeviceThatALibraryHasGivenAccess() {
        final long block = allocateOnTheOtherDevice();
        program.jcuda.answerPeers(cudaError.cudaErrorPeerAccessAlreadyEnabled);

        assertEquals(cudaError.cudaErrorPeerAccessAlreadyEnabled, program.runtime.cudaDeviceEnablePeerAccess(1, 0));

        assertTrue(isAccessible(block, 10 * MIB, 0));
    }

    @Test
    void shouldSayIfTheDriverShowsNothing() {
        allocateOnTheOtherDevice();
        memory.failAt(1, CUresult.CUDA_ERROR_INVALID_DEVICE);

        assertEquals(CUresult.CUDA_ERROR_INVALID_DEVICE, program.runtime.cudaDeviceEnablePeerAccess(1, 0));
        program.runtime.cudaSetDevice(1);
        assertFalse(isAccessible(program.malloc(200 * MIB), MIB, 0), "nor what comes later");
    }
}
