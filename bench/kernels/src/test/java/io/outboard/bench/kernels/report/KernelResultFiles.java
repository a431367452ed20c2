package io.outboard.bench.kernels.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The class has lines of {@code kernels.jsonl} as the command line writes them. */
public final class KernelResultFiles {

    private static final String HEAP = "\"heapBytes\":2147483648,\"preSplit\":\"default\",";

    private KernelResultFiles() {}

    /**
     * Returns results of two allocators, CUDA's and none: a few rows of the table, points of all figures, failures,
     * registers.
     */
    public static List<String> sample() {
        final List<String> lines = new ArrayList<>();
        final String[] allocators = {"Empty", "CFMalloc", "CFMMalloc", "CudaMalloc"};
        for (int i = 0; i < allocators.length; i++) {
            final String name = allocators[i];
            final int factor = (int) Math.pow(10, i);
            lines.add(line("registers", name, "no", "REGISTERS", 1, 1, 16, 1) + ",\"registers\":" + (10 + 2 * i)
                    + ",\"cycleRegisters\":" + (20 + i) + "}");
            lines.add(times(line("AD T10k 16 B", name, "no", "AD", 10240, 10240, 16, 1), 6 * factor, 5.04 * factor));
            for (final int bytes : new int[] {4, 64, 131072}) {
                lines.add(times(
                        perWarp("AD fused W30k " + bytes, name, "ADF", bytes, 1), factor + bytes / 100.0, Double.NaN));
                lines.add(
                        times(perWarp("ACD W30k " + bytes, name, "ACD", bytes, 10), factor + bytes / 50.0, Double.NaN));
                if (name.startsWith("CF")) {
                    lines.add(fragmented(perWarp("AD W30k " + bytes, name, "AD", bytes, 1), bytes, i));
                }
            }
            lines.add(times(perWarp("ACD W30k 4 B, 100 iterations", name, "ACD", 4, 100), 10 * factor, Double.NaN));
            lines.add(times(
                    perWarp("ACD W30k 4 B, 128 KiB heap", name, "ACD", 4, 10).replace("2147483648", "131072"),
                    9 * factor,
                    Double.NaN));
            for (final int blocks : new int[] {1, 120}) {
                lines.add(times(
                        line("P W" + 256 * blocks + " 4 B", name, "no", "P", 256 * blocks, 8 * blocks, 4, 10),
                        factor * blocks,
                        Double.NaN));
            }
        }
        lines.add(times(line("AD T10k 16 B", "CFMMalloc", "yes", "AD", 10240, 10240, 16, 1), 60, 20)
                .replace(
                        "}",
                        ",\"ageingLaunches\":310,\"agedAllocateUs\":66,\"agedFreeUs\":22,\"agedRatio\":1.1,"
                                + "\"agedNulls\":0,\"agedMisuses\":0}"));
        lines.add(line("CHURN T10k 4..1048576", "CFMMalloc", "yes", "CHURN", 10240, 10240, 4, 10)
                + ",\"seconds\":10,\"nulls\":0,\"operations\":26000000,\"falseNulls\":0,\"otherNulls\":17,"
                + "\"peak\":0.9612,\"fullExternalFragmentation\":0.85,\"externalFragmentation\":0.25,"
                + "\"largestBytes\":1073741824,\"largestServed\":\"false\"}");
        lines.add(
                line("MIX T1M 4..1024", "CudaMalloc", "no", "MIX", 1048576, 1048576, 4, 1)
                                .replace("\"ok\"", "\"hang\"") + ",\"message\":\"not done after 20 s\"}");
        lines.add(line("OOM T10k 1 KiB", "CFMMalloc", "no", "OOM", 10240, 10240, 1024, 1)
                + ",\"allocateUs\":10,\"freeUs\":20,\"nulls\":0,\"mismatches\":3,\"served\":0.9812,\"allNullMs\":5.7,"
                + "\"hopelessRequests\":1024000,\"hopelessServed\":0,\"hopelessNs\":12.34}");
        lines.add(line("FILL T10k 64 B", "CFMMalloc", "no", "FILL", 10240, 10240, 64, 2400)
                + ",\"allocateUs\":12000,\"freeUs\":900,\"nulls\":0,\"rounds\":200,\"firstRoundsUs\":812,"
                + "\"lastRoundsUs\":1015,\"lastOverFirst\":1.25}");
        return lines;
    }

    private static String perWarp(
            final String name, final String allocator, final String test, final int bytes, final int iterations) {
        return line(name, allocator, "no", test, 30720, 960, bytes, iterations);
    }

    private static String line(
            final String name,
            final String allocator,
            final String coalesced,
            final String test,
            final int threads,
            final int allocating,
            final int bytes,
            final int iterations) {
        return String.format(
                Locale.ROOT,
                "{\"name\":\"%s\",\"allocator\":\"%s\",\"coalesced\":\"%s\",\"case\":\"%s\",\"threads\":%d,"
                        + "\"allocatingThreads\":%d,\"leastBytes\":%d,\"mostBytes\":%d,\"iterations\":%d,%s\"status\":\"ok\"",
                name,
                allocator,
                coalesced,
                test,
                threads,
                allocating,
                bytes,
                bytes,
                iterations,
                HEAP);
    }

    private static String times(final String line, final double allocate, final double free) {
        return line
                + String.format(
                        Locale.ROOT,
                        ",\"runs\":5,\"allocateUs\":%.2f,\"freeUs\":%s,\"nulls\":0,\"misaligned\":0,\"outside\":0,\"mismatches\":0}",
                        allocate,
                        Double.isNaN(free) ? "null" : String.format(Locale.ROOT, "%.2f", free));
    }

    private static String fragmented(final String line, final int bytes, final int i) {
        return line
                + String.format(
                        Locale.ROOT,
                        ",\"allocateUs\":7,\"freeUs\":6,\"nulls\":0,\"internalFragmentation\":%.4f,\"externalFragmentation\":%.1f,"
                                + "\"externalFragmentationOfChunks\":%.1f}",
                        1.5 * i / bytes,
                        0.2 * i,
                        1 - 0.1 * i);
    }
}
