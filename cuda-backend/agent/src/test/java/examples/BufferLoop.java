package examples;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaMemcpyKind;
import jcuda.runtime.cudaStream_t;

/**
 * The program allocates and frees buffers of changing size in a loop, through the runtime's API, and frees some while
 * work on them is still on its way, as {@code cudaFree} allows.
 */
public final class BufferLoop {

    private static final int ROUNDS = 5_000;
    private static final int LIVE = 64;
    private static final int MOST_BYTES = 1 << 20;

    private record Buffer(Pointer pointer, int sizeBytes, byte value) {}

    private BufferLoop() {}

    public static void main(final String... args) {
        JCuda.setExceptionsEnabled(true);
        JCuda.cudaSetDevice(0);
        final Random random = new Random(42);
        final cudaStream_t stream = new cudaStream_t();
        JCuda.cudaStreamCreate(stream);
        final Deque<Buffer> live = new ArrayDeque<>();
        long checksum = 0;
        int wrong = 0;
        for (int round = 0; round < ROUNDS; round++) {
            final int sizeBytes = 1 + random.nextInt(MOST_BYTES);
            final byte value = (byte) random.nextInt();
            final Pointer pointer = new Pointer();
            JCuda.cudaMalloc(pointer, sizeBytes);
            JCuda.cudaMemsetAsync(pointer, value, sizeBytes, stream);
            // The program doesn't wait for the copy, since cudaFree does.
            final Pointer scratch = new Pointer();
            JCuda.cudaMalloc(scratch, sizeBytes);
            JCuda.cudaMemcpyAsync(scratch, pointer, sizeBytes, cudaMemcpyKind.cudaMemcpyDeviceToDevice, stream);
            JCuda.cudaFree(scratch);
            live.add(new Buffer(pointer, sizeBytes, value));
            if (live.size() > LIVE) {
                final Buffer oldest = live.remove();
                final byte last = lastByteOf(oldest);
                checksum = (31 * checksum) + last;
                wrong += last == oldest.value() ? 0 : 1;
                JCuda.cudaFree(oldest.pointer());
            }
        }
        live.forEach(buffer -> JCuda.cudaFree(buffer.pointer()));
        JCuda.cudaStreamDestroy(stream);
        System.out.println("wrong buffers: " + wrong);
        System.out.println("checksum: " + checksum);
        JCuda.cudaDeviceReset();
    }

    private static byte lastByteOf(final Buffer buffer) {
        final byte[] last = new byte[1];
        JCuda.cudaMemcpy(
                Pointer.to(last),
                buffer.pointer().withByteOffset(buffer.sizeBytes() - 1L),
                1,
                cudaMemcpyKind.cudaMemcpyDeviceToHost);
        return last[0];
    }
}
