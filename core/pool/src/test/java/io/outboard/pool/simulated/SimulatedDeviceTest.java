package io.outboard.pool.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** These tests say when a simulated device does what its work is to do. */
class SimulatedDeviceTest {

    private final SimulatedDevice device = new SimulatedDevice();
    private final List<String> done = new ArrayList<>();

    private long submit(final long stream, final String name) {
        return device.submit(stream, () -> done.add(name));
    }

    @Test
    void shouldRunWorkInItsOrderWhenItFinishes() {
        submit(1, "a");
        device.submit(1);
        final long last = submit(1, "c");

        device.finishNext(1);
        assertEquals(List.of("a"), done);
        device.finishNext(1);
        assertEquals(List.of("a"), done);
        device.finish(1, last);
        assertEquals(List.of("a", "c"), done);
        device.finish(1, last);
        assertEquals(List.of("a", "c"), done);
    }

    @Test
    void shouldRunWhatAMarkCovers() {
        submit(2, "second stream");
        submit(1, "first stream");
        final long mark = device.mark();
        submit(1, "later");

        device.await(mark);

        assertEquals(List.of("second stream", "first stream"), done);
        assertTrue(device.isFinished(mark));
    }

    @Test
    void shouldRunWorkThatOtherWorkWaitsFor() {
        final long awaited = submit(2, "awaited");
        device.submit(1, () -> device.finish(2, awaited));
        submit(1, "waiting");
        submit(2, "not awaited");

        device.finish(1, 2);

        assertEquals(List.of("awaited", "waiting"), done);
    }

    @Test
    void shouldNotFinishWorkThatWasNotSubmitted() {
        device.finish(1, 5);
        submit(1, "a");

        assertEquals(List.of(), done);
    }

    @Test
    void shouldRunAllWork() {
        submit(1, "a");
        device.submit(1, () -> submit(7, "b"));
        device.finishAll();
        device.finishAll();

        assertEquals(List.of("a", "b"), done);
    }

    @Test
    void shouldCountCallsOfOthers() {
        device.failAt(2, () -> new IllegalStateException("simulated"));
        device.call();

        assertThrows(IllegalStateException.class, device::call);
        assertEquals(2, device.calls());
    }
}
