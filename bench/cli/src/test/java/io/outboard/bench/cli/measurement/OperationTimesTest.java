package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class OperationTimesTest {

    @Test
    void shouldTellTheFirstCallsOneByOneAndLaterOnesInStretches() {
        final OperationTimes times = new OperationTimes(10, 1_000_000);
        for (int i = 0; i < 1_000_000; i++) {
            times.record(i, i == 0 ? 2_000_010 : i == 500_000 ? 70_010 : 50);
        }

        final List<OperationTimes.Stretch> stretches = times.stretches();

        assertEquals(1, stretches.get(0).operation());
        assertEquals(2_000_000.0, (double) stretches.get(0).maxNs(), 2_000);
        assertEquals(new OperationTimes.Stretch(2, 40, 40), stretches.get(1));
        assertEquals(1_000_000, stretches.get(stretches.size() - 1).operation());
        assertTrue(stretches.size() < 150, stretches.size() + " stretches");
        assertEquals(
                1,
                stretches.stream()
                        .filter(stretch -> Math.abs(stretch.maxNs() - 70_000) < 70 && stretch.medianNs() == 40)
                        .count());
    }

    @Test
    void shouldCountOnlyTheFirstTimeOfAnOperation() {
        final OperationTimes times = new OperationTimes(0, 200);
        times.record(0, 5);
        times.record(1, 6);
        times.record(0, 500);
        times.record(1, 600);
        times.record(2, 7);

        assertEquals(
                List.of("1,5,5", "2,6,6", "3,7,7"),
                times.stretches().stream().map(OperationTimes.Stretch::line).toList());
    }

    @Test
    void shouldTakeTheMiddleOfAStretch() {
        final OperationTimes times = new OperationTimes(0, 200);
        for (int i = 0; i < 200; i++) {
            times.record(i, i);
        }

        for (final OperationTimes.Stretch stretch : times.stretches()) {
            assertEquals(stretch.operation() - 1, stretch.maxNs());
            assertTrue(stretch.medianNs() <= stretch.maxNs());
        }
    }

    @Test
    void shouldHaveNothingOfNothing() {
        assertEquals(List.of(), new OperationTimes(0, 200).stretches());
    }

    @Test
    void shouldKeepEachCallOfAShortTrace() {
        final OperationTimes times = new OperationTimes(10, 10_000);
        for (int i = 0; i < 10_000; i++) {
            times.record(i, 10 + (i * 7919) % 10_000);
        }

        final List<OperationTimes.Call> calls = times.calls();

        assertEquals(10_000, calls.size());
        for (int i = 0; i < 10_000; i++) {
            assertEquals(new OperationTimes.Call(i + 1, (i * 7919) % 10_000), calls.get(i));
        }
    }

    @Test
    void shouldKeepTheSlowestHundredCallsOfALongTrace() {
        final OperationTimes times = new OperationTimes(0, 10_001);
        for (int i = 0; i < 10_001; i++) {
            times.record(i, (i * 7919L) % 10_001);
        }

        final List<OperationTimes.Call> calls = times.calls();

        assertEquals(
                LongStream.range(9_901, 10_001).boxed().toList(),
                calls.stream().map(OperationTimes.Call::ns).sorted().toList());
        for (final OperationTimes.Call call : calls) {
            assertEquals((call.operation() - 1) * 7919 % 10_001, call.ns());
        }
        assertEquals(
                calls.stream().map(OperationTimes.Call::operation).sorted().toList(),
                calls.stream().map(OperationTimes.Call::operation).toList());
    }
}
