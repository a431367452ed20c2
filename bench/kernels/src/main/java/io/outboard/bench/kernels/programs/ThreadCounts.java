package io.outboard.bench.kernels.programs;

/**
 * The class reads numbers of threads as sizes name them: {@code T10240}, {@code T100k} for 102,400, {@code T1M} for
 * 1,048,576.
 */
final class ThreadCounts {

    private static final String PREFIX = "T";

    private ThreadCounts() {}

    /**
     * Reads a number of threads.
     *
     * @throws NumberFormatException if the name has none
     */
    static long parse(final String name) {
        final String number = name.substring(PREFIX.length()).replaceAll("[kM]$", "");
        final int shift = name.endsWith("M") ? 20 : name.endsWith("k") ? 10 : 0;
        return Long.parseLong(number) << shift;
    }
}
