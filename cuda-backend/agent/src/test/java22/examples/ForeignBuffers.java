package examples;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.drivers.cuda.ffm.CUDADriverAPI;

/**
 * The program fills buffers and reads them back, with contexts, streams, graphs and buffers as in TornadoVM: by a class
 * of its own that calls the driver.
 */
public final class ForeignBuffers {

    private static final int ROUNDS = 50;
    private static final int BUFFERS = 4;
    private static final int UNIT_BYTES = 10_007;
    private static final int NON_BLOCKING = 1;

    private ForeignBuffers() {}

    public static void main(final String... args) {
        try (Arena arena = Arena.ofConfined()) {
            check(CUDADriverAPI.cuInit(0));
            final MemorySegment device = arena.allocate(ValueLayout.JAVA_INT);
            check(CUDADriverAPI.cuDeviceGet(device, 0));
            final MemorySegment result = arena.allocate(ValueLayout.JAVA_LONG);
            final MemorySegment host = arena.allocate((long) ROUNDS * UNIT_BYTES);
            // A context that is gone takes its pool with it; the next one has a pool of its own.
            for (int i = 0; i < 2; i++) {
                check(CUDADriverAPI.cuCtxCreate(result, 0, device.get(ValueLayout.JAVA_INT, 0)));
                final long context = result.get(ValueLayout.JAVA_LONG, 0);
                System.out.println("wrong bytes: " + useBuffers(context, result, host));
                check(CUDADriverAPI.cuCtxDestroy(context));
            }
        }
    }

    private static long useBuffers(final long context, final MemorySegment result, final MemorySegment host) {
        check(CUDADriverAPI.cuStreamCreate(result, NON_BLOCKING));
        final long stream = result.get(ValueLayout.JAVA_LONG, 0);
        long wrong = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            final long sizeBytes = (long) round * UNIT_BYTES;
            final long[] buffers = new long[BUFFERS];
            for (int i = 0; i < BUFFERS; i++) {
                check(CUDADriverAPI.cuCtxSetCurrent(context));
                check(CUDADriverAPI.cuMemAlloc(result, sizeBytes));
                buffers[i] = result.get(ValueLayout.JAVA_LONG, 0);
                check(CUDADriverAPI.cuMemsetD8Async(buffers[i], (byte) (round + i), sizeBytes, stream));
            }
            capture(buffers[0], stream, result);
            for (int i = 0; i < BUFFERS; i++) {
                check(CUDADriverAPI.cuMemcpyDtoHAsync(host, buffers[i], sizeBytes, stream));
                check(CUDADriverAPI.cuCtxSynchronize());
                check(CUDADriverAPI.cuMemFree(buffers[i]));
                for (long at = 0; at < sizeBytes; at++) {
                    wrong += host.get(ValueLayout.JAVA_BYTE, at) == (byte) (round + i) ? 0 : 1;
                }
            }
        }
        check(CUDADriverAPI.cuStreamDestroy(stream));
        return wrong;
    }

    /**
     * Captures work into a graph that is never launched. Any thread that waited for the device meanwhile would break
     * the capture.
     */
    private static void capture(final long buffer, final long stream, final MemorySegment result) {
        check(CUDADriverAPI.cuStreamBeginCapture(stream, 0));
        check(CUDADriverAPI.cuMemsetD8Async(buffer, (byte) 0, 1, stream));
        check(CUDADriverAPI.cuStreamEndCapture(stream, result));
        check(CUDADriverAPI.cuGraphDestroy(result.get(ValueLayout.JAVA_LONG, 0)));
    }

    private static void check(final int code) {
        if (code != 0) {
            throw new IllegalStateException("code=" + code + " must be 0");
        }
    }
}
