package examples;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaMemcpyKind;
import jcuda.runtime.cudaStream_t;

/**
 * The program fills 85 % of the device with blocks of 1 to 64 MiB, frees every second one, and asks for a block of 40 %
 * of the device, which the driver can serve, since its pages may lie anywhere. With {@code busy}, work on half of the
 * blocks to be freed is unfinished at their free. There are several rounds, each checked: blocks that stay keep their
 * first byte, and the large block can be written from end to end.
 */
public final class Scatter {

    private static final long MIB = 1L << 20;
    private static final int ROUNDS = 5;

    private Scatter() {}

    public static void main(final String... args) {
        JCuda.setExceptionsEnabled(true);
        JCuda.cudaSetDevice(0);
        final boolean busy = args.length > 0 && args[0].equals("busy");
        final long[] free = new long[1];
        final long[] total = new long[1];
        JCuda.cudaMemGetInfo(free, total);
        for (int round = 0; round < ROUNDS; round++) {
            run(round, busy, total[0]);
        }
        JCuda.cudaDeviceReset();
        System.out.println("done");
    }

    private static void run(final int round, final boolean busy, final long totalBytes) {
        final SplittableRandom random = new SplittableRandom(round);
        final cudaStream_t stream = new cudaStream_t();
        JCuda.cudaStreamCreate(stream);
        final List<Pointer> blocks = new ArrayList<>();
        final long begin = System.nanoTime();
        long leftBytes = totalBytes * 85 / 100;
        while (leftBytes > 64 * MIB) {
            final long sizeBytes = random.nextLong(MIB, 64 * MIB);
            final Pointer block = new Pointer();
            JCuda.cudaMalloc(block, sizeBytes);
            blocks.add(block);
            leftBytes -= sizeBytes;
        }
        final long filled = System.nanoTime();
        for (int i = 0; i < blocks.size(); i++) {
            JCuda.cudaMemset(blocks.get(i), i, MIB);
        }
        JCuda.cudaDeviceSynchronize();
        if (busy) {
            for (int i = 0; i < blocks.size(); i += 4) {
                for (int j = 0; j < 16; j++) {
                    JCuda.cudaMemsetAsync(blocks.get(i), j, MIB, stream);
                }
            }
        }
        final long beforeFree = System.nanoTime();
        for (int i = 0; i < blocks.size(); i += 2) {
            JCuda.cudaFree(blocks.get(i));
        }
        final long largeBytes = totalBytes * 2 / 5;
        final Pointer large = new Pointer();
        final long before = System.nanoTime();
        final String answer = allocate(large, largeBytes);
        final long after = System.nanoTime();
        if (answer.isEmpty()) {
            JCuda.cudaMemset(large, 0x5A, largeBytes);
        }
        int wrong = 0;
        for (int i = 1; i < blocks.size(); i += 2) {
            wrong += byteOf(blocks.get(i)) == (byte) i ? 0 : 1;
            JCuda.cudaFree(blocks.get(i));
        }
        if (answer.isEmpty()) {
            wrong += byteOf(large.withByteOffset(largeBytes - 1)) == 0x5A ? 0 : 1;
            JCuda.cudaFree(large);
        }
        JCuda.cudaStreamDestroy(stream);
        System.out.printf(
                Locale.ROOT,
                "round %d: %d blocks in %.1f ms, half freed in %.1f ms, %d MiB in %.1f ms%s, wrong: %d%n",
                round,
                blocks.size(),
                (filled - begin) * 1e-6,
                (before - beforeFree) * 1e-6,
                largeBytes / MIB,
                (after - before) * 1e-6,
                answer,
                wrong);
    }

    /** Returns an empty text, or why the allocation failed. */
    private static String allocate(final Pointer pointer, final long sizeBytes) {
        try {
            JCuda.cudaMalloc(pointer, sizeBytes);
            return "";
        } catch (final CudaException e) {
            return ": " + e.getMessage();
        }
    }

    private static byte byteOf(final Pointer pointer) {
        final byte[] read = new byte[1];
        JCuda.cudaMemcpy(Pointer.to(read), pointer, 1, cudaMemcpyKind.cudaMemcpyDeviceToHost);
        return read[0];
    }
}
