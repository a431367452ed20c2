package io.outboard.bench.kernels.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeviceResourcesTest {

    private final DeviceResources resources = new DeviceResources();
    private final List<String> closed = new ArrayList<>();

    @Test
    void shouldCloseTheLastOneFirstAndEachOnce() {
        resources.add("first", closed::add);
        resources.add("second", closed::add);

        resources.close();
        resources.close();

        assertEquals(List.of("second", "first"), closed);
    }

    @Test
    void shouldKeepTheFirstFailure() {
        final RuntimeException failure = new IllegalStateException("no memory");
        final RuntimeException next = new IllegalStateException("a broken context");
        resources.add("any", ignored -> {
            throw next;
        });

        assertSame(failure, resources.closedAfter(failure));

        assertEquals(List.of(next), List.of(failure.getSuppressed()));
    }
}
