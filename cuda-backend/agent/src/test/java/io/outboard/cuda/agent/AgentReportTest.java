package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.cuda.DeviceStatistics;
import io.outboard.pool.PoolStatistics;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AgentReportTest {

    @Test
    void shouldCountWhatWasSaved() {
        final PoolStatistics statistics = new PoolStatistics(1, 1024, 4096, 256, 512, 768, 1, 10, 2, 0, 0, 0, 0);

        final List<String> lines =
                AgentReport.lines(Map.of("a.B", 3, "a.C", 1), Map.of(), List.of(new DeviceStatistics(5, statistics)));

        assertEquals(
                List.of(
                        "redirected 4 calls of CUDA in 2 classes",
                        "device 5: 10 allocations and 9 frees without the driver; 2 waits for the device instead of 9",
                        "device 5: " + statistics),
                lines);
    }

    @Test
    void shouldSayThatThereWasNoPool() {
        assertEquals(
                List.of("redirected 1 call of CUDA in 1 class", "redirected 9 functions of c.D", "no pool was made"),
                AgentReport.lines(Map.of("a.B", 1), Map.of("c.D", 9), List.of()));
    }
}
