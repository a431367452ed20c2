package io.outboard.bench.kernels;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.programs.RequestRuns;
import io.outboard.bench.kernels.worker.PeerPrograms;
import java.util.List;

/**
 * The class measures one case of a published allocator, in a process of its own on a fresh heap: see {@code
 * peers/tests.cu}, which has the tests of the paper's figures 3(a) to 3(d) and of table 1. Confined to one thread.
 */
final class PeerRun {

    /** What the program prints before times. */
    private static final List<String> COUNTS = List.of("nulls", "misaligned", "mismatches");

    private PeerRun() {}

    /**
     * Measures a case.
     *
     * @return one object
     * @throws IllegalStateException if the program fails
     */
    static JsonLine measure(final KernelCase work, final int device) {
        return measured(work, PeerPrograms.start(work.resource(), arguments(work, device)));
    }

    /** Returns the program's arguments. */
    static List<String> arguments(final KernelCase work, final int device) {
        return List.of(
                String.valueOf(device),
                work.test().name(),
                String.valueOf(work.threads()),
                String.valueOf(work.stride()),
                String.valueOf(work.leastBytes()),
                String.valueOf(work.mostBytes()),
                String.valueOf(work.iterations()),
                String.valueOf(work.heapBytes()),
                String.valueOf(work.runs()));
    }

    /** Returns what the process measures. */
    static JsonLine measured(final KernelCase work, final Process process) {
        final List<String> lines = printed(process);
        final JsonLine json = work.json().put("status", "ok");
        if (work.test() == TestKind.REGISTERS) {
            return json.put("registers", Long.parseLong(lines.get(0)))
                    .put("cycleRegisters", Long.parseLong(lines.get(1)));
        }
        final double[] times = lines.stream()
                .skip(COUNTS.size())
                .mapToDouble(Double::parseDouble)
                .toArray();
        json.put("runs", (long) times.length)
                .put("allocateUs", RequestRuns.median(times), 2)
                .put("freeUs", Double.NaN, 2);
        for (int i = 0; i < COUNTS.size(); i++) {
            json.put(COUNTS.get(i), Long.parseLong(lines.get(i)));
        }
        return json;
    }

    private static List<String> printed(final Process process) {
        try {
            final List<String> lines = process.inputReader().lines().toList();
            final int code = process.waitFor();
            if (code != 0) {
                throw new IllegalStateException("the program's exit code is " + code);
            }
            return lines;
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the program ran", e);
        }
    }
}
