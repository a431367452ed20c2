package io.outboard.bench.measure.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TimedDeviceTest {

    private static final long MOST_BEHIND_NS = 1_000;

    private final StoppedClock clock = new StoppedClock();
    private final TimedDevice device = new TimedDevice(clock, 3);

    @Test
    void shouldRunKernelsOfAStreamOneAfterTheOther() {
        assertEquals(100, device.launch(1, 100, MOST_BEHIND_NS));
        assertEquals(150, device.launch(1, 50, MOST_BEHIND_NS));
        clock.advance(500);
        assertEquals(550, device.launch(1, 50, MOST_BEHIND_NS));
        assertEquals(3, device.kernels());
    }

    @Test
    void shouldLaunchNothingOnAStreamThatIsFarBehind() {
        device.launch(1, MOST_BEHIND_NS + 1, MOST_BEHIND_NS);

        assertEquals(0, device.launch(1, 1, MOST_BEHIND_NS));
        assertEquals(1, device.launch(2, 1, MOST_BEHIND_NS));
    }

    @Test
    void shouldFinishAMarkWhenTheWorkBeforeItHasEnded() {
        device.launch(1, 100, MOST_BEHIND_NS);
        device.launch(2, 300, MOST_BEHIND_NS);
        final long all = device.mark();
        final long one = device.mark(1);
        device.launch(2, 300, MOST_BEHIND_NS);

        clock.advance(99);
        assertFalse(device.isFinished(one));
        clock.advance(1);
        assertTrue(device.isFinished(one));
        assertFalse(device.isFinished(all));
        device.await(all);
        assertEquals(300, clock.nowNs());
        assertTrue(device.isFinished(all));
        assertEquals(2, device.marksOut());
        device.release(all);
        device.release(one);
        assertEquals(0, device.marksOut());
    }

    @Test
    void shouldHaveEndedAllThatWasLaunchedWhenItHasFinished() {
        device.launch(2, 300, MOST_BEHIND_NS);
        final long all = device.mark();
        assertFalse(device.isFinished(all));

        device.finish();

        assertTrue(device.isFinished(all));
        assertEquals(300, clock.nowNs());
    }

    @Test
    void shouldNumberStreamsOtherwiseThanTheirHandles() {
        assertNotEquals(1, device.idOf(1));
        assertNotEquals(device.idOf(1), device.idOf(2));
    }
}
