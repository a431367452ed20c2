package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.trace.Profiles;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DriverRatioTest {

    private static final int SAMPLES = 10_000;

    private final List<Measurement> measurements = List.of(
            measurement("tlsf", "IMMEDIATE", 10, 20),
            measurement("tlsf facade", "STRICT", 20, 4_000),
            measurement("tlsf facade", "TRACKED", 50, 100),
            measurement("cudaMalloc", null, 2_000, 2_000),
            measurement("cuMemAllocAsync", null, 500, 1_000));

    /** Makes a measurement in which all operations but the slowest take {@code usualNs}. */
    private static Measurement measurement(
            final String strategy, final @Nullable String policy, final long usualNs, final long slowestNs) {
        return measurement(strategy, policy, usualNs, slowestNs, 0);
    }

    private static Measurement measurement(
            final String strategy,
            final @Nullable String policy,
            final long usualNs,
            final long slowestNs,
            final long failures) {
        final Latencies latencies = new Latencies(0);
        for (int i = 1; i < SAMPLES; i++) {
            latencies.record(usualNs);
        }
        latencies.record(slowestNs);
        return new Measurement(
                Profiles.named("paper", 2),
                strategy,
                "0",
                policy,
                1,
                List.of(),
                0,
                1,
                latencies,
                latencies,
                0,
                0,
                null,
                null,
                Double.NaN,
                Double.NaN,
                null,
                Double.NaN,
                failures,
                null,
                List.of(),
                new OperationTimes(0, 2));
    }

    @Test
    void shouldCompareEachPolicyWithTheFunctionsThatServeTheSame() {
        final List<String> pairs = DriverRatio.of(measurements).stream()
                .map(ratio -> ratio.ours().strategy() + " " + ratio.ours().reusePolicy() + " "
                        + ratio.baseline().strategy())
                .toList();

        assertEquals(
                List.of(
                        "tlsf IMMEDIATE cudaMalloc",
                        "tlsf facade STRICT cudaMalloc",
                        "tlsf facade TRACKED cudaMalloc",
                        "tlsf facade TRACKED cuMemAllocAsync"),
                pairs);
    }

    /** The median is a hundred times better, but the maximum is worse. */
    @Test
    void shouldShowTheTailBesideTheMedian() {
        final String strict = DriverRatio.of(measurements).get(1).json().toString();

        assertTrue(
                strict.contains("\"allocateRatio\":{\"p50\":100.00,\"p99\":100.00,\"p999\":100.00,\"p9999\":100.00,"
                        + "\"max\":0.50}"),
                strict);
        final StringWriter table = new StringWriter();
        DriverRatio.print(measurements, new PrintWriter(table, true));
        assertTrue(
                table.toString()
                        .lines()
                        .anyMatch(line -> line.matches("tlsf facade, STRICT +cudaMalloc +(100 × +){3}100 ×")),
                table.toString());
        assertTrue(
                table.toString().lines().allMatch(line -> line.length() <= TextTable.terminalColumns()),
                table.toString());
    }

    /** A strategy that refuses requests isn't faster, nor is the driver slower for refusing requests. */
    @Test
    void shouldCompareNothingThatFailed() {
        final List<Measurement> failed = List.of(
                measurement("tlsf", "IMMEDIATE", 10, 20, 1),
                measurement("bitmask", "IMMEDIATE", 10, 20, 0),
                measurement("cudaMalloc", null, 2_000, 2_000, 0));

        assertEquals(
                List.of("bitmask"),
                DriverRatio.of(failed).stream()
                        .map(ratio -> ratio.ours().strategy())
                        .toList());
        assertEquals(
                List.of(), DriverRatio.of(List.of(failed.get(1), measurement("cudaMalloc", null, 2_000, 2_000, 3))));
    }

    @Test
    void shouldPrintNothingWithoutADriver() {
        final StringWriter table = new StringWriter();

        DriverRatio.print(measurements.subList(0, 3), new PrintWriter(table, true));

        assertEquals("", table.toString());
    }
}
