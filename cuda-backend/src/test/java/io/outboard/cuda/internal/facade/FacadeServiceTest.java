package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.FakeLender;
import io.outboard.cuda.FakeSharedMemory;
import io.outboard.cuda.FakeVirtualMemory;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.cuda.internal.memory.LeasedMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaPitchedPtr;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** This class tests facades whose memory a lender lends. */
class FacadeServiceTest {

    private static final long MIB = 1L << 20;
    private static final long MOST = 128 * MIB;
    private static final Path SOCKET = Path.of("/run/outboard/lender");

    private final FakeVirtualMemory memory = new FakeVirtualMemory(0);
    private final FakeSharedMemory shared = new FakeSharedMemory(memory, 2 * MOST);
    private final FakeLender lender = new FakeLender(shared, 0, MOST);
    private final FakeProgram program = new FakeProgram(lender.door(memory));

    private final OutboardOptions options = OutboardOptions.defaults()
            .withShare(1)
            .withFirstRegionBytes(2 * MIB)
            .withService(SOCKET, "night");

    private boolean callsWere(final String call) {
        return program.jcuda.calls().contains(call);
    }

    @Test
    void shouldLeaseWhatAProgramAllocates() {
        program.pools.configure(options);

        final long block = program.malloc(10 * MIB);

        assertTrue(memory.isAccessible(block, 10 * MIB, 0));
        assertEquals(memory.usedBytes(), lender.leasedBytes());
        assertEquals(0, program.cuda.usedBytes(0));
        assertEquals("night", lender.askedName());
        assertEquals(0, program.free(block));
        lender.press(MOST);
        assertEquals(0, lender.leasedBytes());
    }

    @Test
    void shouldHaveANameOfItsOwnUnlessItHasAnother() {
        program.pools.configure(options.withService(SOCKET, null));
        program.malloc(1);
        assertEquals("pid-" + ProcessHandle.current().pid(), lender.askedName());
    }

    /** The driver would take memory without the lender's knowledge. */
    @Test
    void shouldNotAskTheDriverForWhatTheLenderRefuses() {
        program.pools.configure(options);
        program.malloc(100 * MIB);
        final Pointer pointer = DevicePointers.pointerTo(1);
        final CUdeviceptr other = FakeProgram.pointerTo(1);
        final cudaPitchedPtr pitched = new cudaPitchedPtr();

        assertEquals(cudaError.cudaErrorMemoryAllocation, program.runtime.cudaMalloc(pointer, 100 * MIB));
        assertEquals(0, DevicePointers.address(pointer));
        assertEquals(CUresult.CUDA_ERROR_OUT_OF_MEMORY, program.driver.cuMemAlloc(other, 100 * MIB));
        assertEquals(0, DevicePointers.address(other));
        final long[] pitch = {17};
        assertEquals(2, program.runtime.cudaMallocPitch(pointer, pitch, 512, 100 * MIB / 512));
        assertEquals(17, pitch[0]);
        assertEquals(2, program.runtime.cudaMalloc3D(pitched, new cudaExtent(512, 1024, 200)));
        assertEquals(2, program.driver.cuMemAllocPitch(other, pitch, 512, 100 * MIB / 512, 4));
        assertEquals(2, program.driver.cuMemAllocAsync(other, 100 * MIB, FakeProgram.streamOf(0)));

        assertEquals(0, program.cuda.usedBytes(0));
        assertFalse(callsWere("cudaMalloc"), () -> program.jcuda.calls().toString());
        program.runtime.setExceptionsEnabled(true);
        assertThrows(jcuda.CudaException.class, () -> program.runtime.cudaMalloc(pointer, 100 * MIB));
        program.runtime.setExceptionsEnabled(false);
        assertTrue(program.malloc(20 * MIB) > 0);
    }

    /** During a capture an allocation becomes part of a graph, whose memory is the driver's. */
    @Test
    void shouldLeaveGraphsToTheDriver() {
        program.pools.configure(options);
        program.malloc(1);
        final long stream = program.createStream();
        assertEquals(0, program.beginCapture(stream));

        program.driver.cuMemAllocAsync(new CUdeviceptr(), MIB, FakeProgram.streamOf(stream));

        assertTrue(callsWere("cuMemAllocAsync"), () -> program.jcuda.calls().toString());
    }

    /** A program that allocates a share of the free memory that it is told must get it. */
    @Test
    void shouldReportAsFreeWhatTheLenderMayLend() {
        program.pools.configure(options);
        program.malloc(28 * MIB);
        final long[] free = new long[1];

        assertEquals(0, program.runtime.cudaMemGetInfo(free, new long[1]));

        assertEquals(100 * MIB, free[0]);
    }

    @Test
    void shouldLeaseWholeRegionsWhereThatIsWanted() {
        program.pools.configure(options.withGrowInPlace(false));
        final long block = program.malloc(10 * MIB);
        assertTrue(memory.isAccessible(block, 10 * MIB, 0));
        assertEquals(memory.usedBytes(), lender.leasedBytes());
        assertEquals(0, program.cuda.usedBytes(0));
    }

    @Test
    void shouldGiveAllBackWhenTheDeviceIsReset() {
        program.pools.configure(options);
        program.malloc(10 * MIB);

        assertEquals(0, program.runtime.cudaDeviceReset());

        assertTrue(lender.isClosed());
        assertEquals(0, memory.usedBytes());
        assertEquals(0, memory.reservedBytes());
    }

    /** The facade must not silently use the driver's memory instead. */
    @Test
    void shouldSayWhyThereIsNoLender() {
        final FakeProgram alone = new FakeProgram((socket, name, device) -> {
            throw new IOException("no lender there");
        });
        alone.pools.configure(options);

        for (int i = 0; i < 2; i++) {
            final IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> alone.malloc(1));
            assertEquals("outboard.service=/run/outboard/lender can't be used: no lender there", messageOf(thrown));
        }
        assertEquals(0, alone.cuda.usedBytes(0));
    }

    @Test
    void shouldEndTheConnectionIfThePoolCannotBeMade() {
        program.pools.configure(options.withStrategy("none"));

        assertThrows(IllegalArgumentException.class, () -> program.malloc(1));

        assertTrue(lender.isClosed());
    }

    /** Leases are missing on a JDK that is too old, or without a driver. */
    @Test
    void shouldSayWhatLeasesNeed() {
        Assumptions.assumeTrue(DriverLibrary.sharedMemory().isEmpty(), "skipped, leases are possible here");
        final FakeProgram real = new FakeProgram(LeasedMemory::connect);
        real.pools.configure(options);

        final IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> real.malloc(1));

        assertTrue(messageOf(thrown).contains("JDK 22 or newer"), messageOf(thrown));
        assertTrue(messageOf(thrown).endsWith("this is JDK " + Runtime.version()), messageOf(thrown));
        assertEquals(Optional.empty(), real.pools.poolOf(0));
    }
}
