package examples;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaMemcpyKind;

/**
 * Two processes need 70 % of the device each, in turn: {@code Alternate 0 FILE & Alternate 1 FILE}, with a file that
 * doesn't exist yet, whose length is the number of the turn. Between two turns, both processes need nothing for three
 * seconds.
 */
public final class Alternate {

    private static final long BLOCK_BYTES = 64L << 20;
    private static final int ROUNDS = 4;
    private static final int PAUSE_MILLIS = 3000;

    private Alternate() {}

    public static void main(final String... args) throws IOException, InterruptedException {
        final int mine = Integer.parseInt(args[0]);
        final Path turns = Path.of(args[1]);
        JCuda.setExceptionsEnabled(true);
        final long[] free = new long[1];
        final long[] total = new long[1];
        JCuda.cudaMemGetInfo(free, total);
        for (int round = 0; round < ROUNDS; round++) {
            awaitTurn(turns, 2 * round + mine);
            JCuda.cudaMemGetInfo(free, total);
            final String done;
            try {
                done = peak(round, total[0] * 7 / 10);
            } catch (final CudaException e) {
                System.out.printf("process %d, round %d: %s%n", mine, round, e.getMessage());
                return;
            } finally {
                endTurn(turns);
            }
            System.out.printf(
                    Locale.ROOT,
                    "process %d, round %d: %d of %d MiB were free; %s%n",
                    mine,
                    round,
                    free[0] >> 20,
                    total[0] >> 20,
                    done);
        }
        System.out.println("done");
    }

    /** Waits for a turn; all processes read and write the length of the file alike. */
    private static void awaitTurn(final Path turns, final int turn) throws IOException, InterruptedException {
        while (true) {
            try (FileChannel file = FileChannel.open(turns, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                if (file.size() >= turn) {
                    break;
                }
            }
            Thread.sleep(10);
        }
        Thread.sleep(PAUSE_MILLIS);
    }

    private static void endTurn(final Path turns) throws IOException {
        try (FileChannel file = FileChannel.open(turns, StandardOpenOption.APPEND)) {
            file.write(ByteBuffer.allocate(1));
        }
    }

    private static String peak(final int round, final long bytes) {
        final List<Pointer> blocks = new ArrayList<>();
        final long begin = System.nanoTime();
        try {
            for (long left = bytes; left > 0; left -= BLOCK_BYTES) {
                final Pointer block = new Pointer();
                JCuda.cudaMalloc(block, BLOCK_BYTES);
                blocks.add(block);
            }
            final long end = System.nanoTime();
            for (int i = 0; i < blocks.size(); i++) {
                JCuda.cudaMemset(blocks.get(i), round + i, BLOCK_BYTES);
            }
            int wrong = 0;
            for (int i = 0; i < blocks.size(); i++) {
                wrong += lastByteOf(blocks.get(i)) == (byte) (round + i) ? 0 : 1;
            }
            return String.format(
                    Locale.ROOT, "%d blocks in %.1f ms, wrong: %d", blocks.size(), (end - begin) * 1e-6, wrong);
        } finally {
            blocks.forEach(JCuda::cudaFree);
        }
    }

    private static byte lastByteOf(final Pointer block) {
        final byte[] read = new byte[1];
        JCuda.cudaMemcpy(
                Pointer.to(read), block.withByteOffset(BLOCK_BYTES - 1), 1, cudaMemcpyKind.cudaMemcpyDeviceToHost);
        return read[0];
    }
}
