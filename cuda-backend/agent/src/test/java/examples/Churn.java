package examples;

import java.util.Arrays;
import jcuda.Pointer;
import jcuda.runtime.JCuda;

/**
 * The program allocates and frees blocks without using them, and prints how many nanoseconds each call took, the median
 * of several rounds.
 */
public final class Churn {

    private static final int BLOCKS = 1024;
    private static final int ROUNDS = 9;
    private static final int CALLS = 400_000;

    private Churn() {}

    public static void main(final String[] arguments) {
        JCuda.setExceptionsEnabled(true);
        final Pointer[] pointers = new Pointer[BLOCKS];
        final double[] nanos = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            final long start = System.nanoTime();
            for (int call = 0; call < CALLS; call++) {
                final int block = (call * 0x9E3779B1) >>> 22;
                if (pointers[block] == null) {
                    pointers[block] = new Pointer();
                    JCuda.cudaMalloc(pointers[block], 256L + 64L * block);
                } else {
                    JCuda.cudaFree(pointers[block]);
                    pointers[block] = null;
                }
            }
            nanos[round] = (System.nanoTime() - start) / (double) CALLS;
        }
        Arrays.sort(nanos);
        System.out.println(nanos[ROUNDS / 2]);
    }
}
