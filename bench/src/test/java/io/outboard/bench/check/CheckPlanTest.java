package io.outboard.bench.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.bench.common.WrongUseException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CheckPlanTest {

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "1e9, 1000000000",
        "1E10, 10000000000",
        "2.5e6, 2500000",
        "12345, 12345",
        "1e15, 1000000000000000"
    })
    void shouldReadANumberOfOperations(final String text, final long operations) {
        assertEquals(operations, CheckPlan.operations(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "", "many", "1e", "1.5", "2.5e0", "1e16", "1e99", "0x10", "1_000", "+5"})
    void shouldRefuseWhatIsNone(final String text) {
        assertThrows(WrongUseException.class, () -> CheckPlan.operations(text));
    }

    @Test
    void shouldSplitOperationsEvenlyOverStrategiesThatTakeTurns() {
        final List<Shard> shards = CheckPlan.shards(List.of("a", "b"), 3, 10_000_001);

        assertEquals(
                List.of(
                        new Shard("a", 3, 0, 4_000_000),
                        new Shard("b", 3, 0, 4_000_000),
                        new Shard("a", 3, 1, 1_000_001),
                        new Shard("b", 3, 1, 1_000_001)),
                shards);
    }
}
