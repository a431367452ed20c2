package io.outboard.bench.measure.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class CheckPlanTest {

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
