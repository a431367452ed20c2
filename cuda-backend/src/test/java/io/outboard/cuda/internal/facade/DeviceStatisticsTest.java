package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.cuda.DeviceStatistics;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeviceStatisticsTest {

    private final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);

    @Test
    void shouldTellOfEachPool() {
        program.malloc(1000);
        program.runtime.cudaSetDevice(1);
        program.free(program.malloc(1000));
        program.malloc(1000);

        final List<DeviceStatistics> all = program.pools.statistics(DeviceStatistics::new);

        assertAll(
                () -> assertEquals(
                        List.of(0, 1),
                        all.stream().map(DeviceStatistics::device).toList()),
                () -> assertEquals(1, all.get(0).statistics().allocations()),
                () -> assertEquals(2, all.get(1).statistics().allocations()),
                () -> assertEquals(1, all.get(1).statistics().liveBlocks()));
    }

    @Test
    void shouldKeepWhatAPoolDidBeforeItsDeviceWasReset() {
        program.malloc(1000);
        program.malloc(1000);
        program.runtime.cudaDeviceReset();
        program.malloc(1000);

        final List<DeviceStatistics> all = program.pools.statistics(DeviceStatistics::new);

        assertEquals(
                List.of(2L, 1L),
                all.stream().map(each -> each.statistics().allocations()).toList());
    }

    @Test
    void shouldTellNothingBeforeMemoryIsAskedFor() {
        assertEquals(List.of(), program.pools.statistics(DeviceStatistics::new));
    }
}
