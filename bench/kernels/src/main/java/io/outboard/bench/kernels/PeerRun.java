package io.outboard.bench.kernels;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.programs.RequestRuns;
import io.outboard.bench.kernels.worker.PeerPrograms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The class measures one case of a published allocator, in a process of its own on a fresh heap: see {@code
 * peers/tests.cu}, which does the tests that {@link #TESTS} has. Confined to one thread.
 */
final class PeerRun {

    /** The tests of the paper's figures 3(a) to 3(d), and of table 1. */
    static final List<TestKind> TESTS = List.of(TestKind.ADF, TestKind.ACD, TestKind.P, TestKind.REGISTERS);

    /** What the program prints before times. */
    private static final List<String> COUNTS = List.of("nulls", "misaligned", "mismatches");

    private PeerRun() {}

    /**
     * Measures a case.
     *
     * @return one object
     * @throws IllegalStateException if the program fails, with the last line that it printed
     */
    static JsonLine measure(final KernelCase work, final int device) {
        final List<String> arguments = Stream.of(
                        LongStream.of(device).mapToObj(String::valueOf),
                        Stream.of(work.test().name()),
                        LongStream.of(
                                        work.threads(),
                                        work.stride(),
                                        work.leastBytes(),
                                        work.mostBytes(),
                                        work.iterations(),
                                        work.heapBytes(),
                                        work.runs())
                                .mapToObj(String::valueOf))
                .flatMap(each -> each)
                .toList();
        return measured(work, PeerPrograms.file(work.resource()).toString(), arguments);
    }

    /** Measures a case with a program, given by its file. */
    static JsonLine measured(final KernelCase work, final String program, final List<String> arguments) {
        final List<String> lines = printed(program, arguments);
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

    private static List<String> printed(final String program, final List<String> arguments) {
        final List<String> command = new ArrayList<>(List.of(program));
        command.addAll(arguments);
        try {
            final Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            final List<String> lines = process.inputReader().lines().toList();
            final int code = process.waitFor();
            if (code != 0) {
                throw new IllegalStateException("the peer's program ended with exit code " + code
                        + (lines.isEmpty() ? "" : ": " + lines.get(lines.size() - 1)));
            }
            return lines;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the peer's program ran", e);
        }
    }
}
