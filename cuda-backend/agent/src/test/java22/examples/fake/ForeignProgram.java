package examples.fake;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import uk.ac.manchester.tornado.drivers.cuda.ffm.CUDADriverAPI;

/**
 * The program makes contexts, streams, graphs and buffers by TornadoVM's class, whose functions have no driver here,
 * and prints the codes and the calls that reached the driver of JCuda's fake.
 */
public final class ForeignProgram {

    private static final int TIMES = 100;

    /** A handle of a stream that was made elsewhere. */
    private static final long STREAM = 0x57;

    private ForeignProgram() {}

    public static void main(final String... args) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(ValueLayout.JAVA_LONG);
            int codes = 0;
            // The second context has the handle of the first.
            for (int i = 0; i < 2; i++) {
                codes |= CUDADriverAPI.cuCtxCreate(result, 0, 0);
                final long context = result.get(ValueLayout.JAVA_LONG, 0);
                codes |= useBuffers(context, result);
                codes |= useStream(result);
                codes |= CUDADriverAPI.cuCtxDestroy(context);
            }
            System.out.println("codes: " + codes);
            System.out.println(FakeNatives.counts());
            System.out.println("after the end: " + CUDADriverAPI.cuMemAlloc(result, 1) + ", " + FakeNatives.counts());
            final int code = CUDADriverAPI.cuMemAlloc(result, Long.MAX_VALUE);
            System.out.println("too much: " + code + ", " + result.get(ValueLayout.JAVA_LONG, 0));
            tryWithoutRoom(arena.allocate(4));
        }
    }

    private static int useBuffers(final long context, final MemorySegment result) {
        int codes = 0;
        for (int i = 1; i <= TIMES; i++) {
            codes |= CUDADriverAPI.cuCtxSetCurrent(context);
            codes |= CUDADriverAPI.cuMemAlloc(result, 1000L * i);
            codes |= CUDADriverAPI.cuMemFree(result.get(ValueLayout.JAVA_LONG, 0));
        }
        System.out.println("second free: " + CUDADriverAPI.cuMemFree(result.get(ValueLayout.JAVA_LONG, 0)));
        return codes;
    }

    private static int useStream(final MemorySegment result) {
        int codes = CUDADriverAPI.cuStreamBeginCapture(STREAM, 0);
        codes |= CUDADriverAPI.cuStreamEndCapture(STREAM, result);
        return codes | CUDADriverAPI.cuStreamDestroy(STREAM);
    }

    private static void tryWithoutRoom(final MemorySegment tooSmall) {
        final String before = FakeNatives.counts();
        try {
            CUDADriverAPI.cuMemAlloc(tooSmall, 1000);
        } catch (final IndexOutOfBoundsException e) {
            System.out.println("no room: " + FakeNatives.counts().equals(before));
        }
    }
}
