package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.simulated.SimulatedDevice;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JFR recording has events of a pool. */
class PoolEventsTest {

    private static final long MIB = 1L << 20;

    private static final String STATISTICS = "io.outboard.PoolStatistics";

    private final FailingMemorySource source = new FailingMemorySource(1L << 40);
    private final SimulatedDevice device = new SimulatedDevice();

    @TempDir
    private Path folder;

    private PoolBuilder builder() {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB)
                .limitBytes(4 * MIB)
                .name("recorded");
    }

    private List<RecordedEvent> record(final boolean blocks, final Runnable program) throws IOException {
        final Path path = folder.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            if (blocks) {
                recording.enable("io.outboard.Allocation");
                recording.enable("io.outboard.Free");
            }
            recording.start();
            program.run();
            recording.stop();
            recording.dump(path);
        }
        final List<RecordedEvent> events = RecordingFile.readAllEvents(path).stream()
                .filter(event -> event.getEventType().getName().startsWith("io.outboard."))
                .filter(event -> !event.getEventType().getName().equals(STATISTICS))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
        for (final RecordedEvent event : events) {
            assertEquals(List.of("Outboard"), event.getEventType().getCategoryNames());
            assertEquals("recorded", event.getString("pool"));
            assertFalse(event.getEventType().getDescription().isEmpty());
            assertTrue(
                    event.getStackTrace().getFrames().stream()
                            .anyMatch(frame ->
                                    frame.getMethod().getType().getName().equals(Pool.class.getName())),
                    "the stack shows the pool");
        }
        return events;
    }

    private static List<String> names(final List<RecordedEvent> events) {
        return events.stream()
                .map(event -> event.getEventType().getName().substring("io.outboard.".length()))
                .toList();
    }

    @Test
    void shouldRecordRegionsButNoBlocksUnlessAsked() throws IOException {
        final long[] address = new long[1];

        final List<RecordedEvent> events = record(false, () -> {
            try (Pool pool = builder().build()) {
                address[0] = pool.allocate(MIB);
                pool.free(address[0]);
                pool.trimTo(0);
                pool.free(pool.allocate(MIB));
            }
        });

        assertEquals(
                List.of("RegionTaken", "RegionGivenBack", "RegionTaken", "Synchronised", "RegionGivenBack"),
                names(events));
        for (final RecordedEvent event : events.subList(0, 2)) {
            assertEquals(address[0], event.getLong("address"));
            assertEquals(4 * MIB, event.getLong("sizeBytes"));
            assertEquals("jdk.jfr.MemoryAddress", annotationsOf(event, "address"));
            assertEquals("jdk.jfr.DataAmount", annotationsOf(event, "sizeBytes"));
        }
    }

    /** Committing and decommitting in place is recorded as if each piece were a region. */
    @Test
    void shouldRecordHowARegionGrowsAndShrinksInPlace() throws IOException {
        source.growingInPlace();
        final long[] address = new long[1];

        final List<RecordedEvent> events = record(false, () -> {
            try (Pool pool = builder().limitBytes(64 * MIB).build()) {
                address[0] = pool.allocate(3 * MIB);
                final long last = pool.allocate(12 * MIB);
                pool.free(last);
                pool.trimTo(0);
                pool.free(address[0]);
            }
        });

        final long first = address[0];
        assertEquals(
                List.of(
                        "RegionTaken " + 4 * MIB + " at 0",
                        "RegionTaken " + 12 * MIB + " at " + 4 * MIB,
                        "RegionGivenBack " + 12 * MIB + " at " + 4 * MIB,
                        "RegionGivenBack " + 4 * MIB + " at 0"),
                events.stream()
                        .filter(event -> event.hasField("sizeBytes"))
                        .map(event -> event.getEventType().getName().substring("io.outboard.".length()) + " "
                                + event.getLong("sizeBytes") + " at " + (event.getLong("address") - first))
                        .toList());
    }

    /** Each block has two units; there are free blocks in two places, and the pool's limit leaves one unit. */
    @Test
    void shouldRecordWhatMovesAndWhatGoesFromTheMiddle() throws IOException {
        source.growingInPlace();
        final long[] blocks = new long[6];

        final List<RecordedEvent> events = record(false, () -> {
            try (Pool pool = builder().limitBytes(26 * MIB).build()) {
                for (int i = 0; i < blocks.length; i++) {
                    blocks[i] = pool.allocate(4 * MIB);
                }
                pool.free(blocks[0]);
                pool.free(blocks[2]);
                final long large = pool.allocate(10 * MIB);
                pool.free(blocks[4]);
                pool.trimTo(0);
                pool.free(large);
                pool.free(blocks[1]);
                pool.free(blocks[3]);
                pool.free(blocks[5]);
            }
        });

        final RecordedEvent moved = events.stream()
                .filter(event -> event.hasField("movedBytes"))
                .findFirst()
                .orElseThrow();
        assertEquals(10 * MIB, moved.getLong("requestedBytes"));
        assertEquals(8 * MIB, moved.getLong("movedBytes"));
        assertEquals(2 * MIB, moved.getLong("addedBytes"));
        final List<String> given = events.stream()
                .filter(event -> event.getEventType().getName().endsWith("GivenBack"))
                .map(event -> event.getLong("sizeBytes") + " at " + (event.getLong("address") - blocks[0]))
                .toList();
        assertEquals(4 * MIB + " at " + 16 * MIB, given.get(0));
    }

    private static String annotationsOf(final RecordedEvent event, final String field) {
        return event.getEventType().getField(field).getAnnotationElements().stream()
                .map(annotation -> annotation.getTypeName())
                .filter(name -> !name.equals("jdk.jfr.Label"))
                .reduce("", String::concat);
    }

    @Test
    void shouldNotRecordARegionThatTheSourceRefused() throws IOException {
        final List<RecordedEvent> events = record(false, () -> {
            source.failAt(1, () -> new IllegalStateException("device"));
            try (Pool pool = builder().build()) {
                assertThrows(IllegalStateException.class, () -> pool.allocate(1));
            }
        });

        assertEquals(List.of("Synchronised"), names(events));
    }

    @Test
    void shouldRecordWhatItWaitsFor() throws IOException {
        final List<RecordedEvent> events = record(false, () -> {
            for (final ReusePolicy policy : List.of(ReusePolicy.STRICT, ReusePolicy.TRACKED)) {
                try (Pool pool = builder().reuse(policy, device).build()) {
                    device.submit(1);
                    pool.free(pool.allocate(4 * MIB));
                    pool.free(pool.allocate(4 * MIB));
                }
            }
        });

        final List<RecordedEvent> waits = events.stream()
                .filter(event -> event.getEventType().getName().endsWith("Synchronised"))
                .toList();
        // Each of the two pools waits for the second block, and when it is closed.
        assertEquals(4, waits.size());
        assertTrue(waits.stream().noneMatch(event -> event.getDuration().isNegative()));
    }

    @Test
    void shouldRecordThatMemoryRanOut() throws IOException {
        final List<RecordedEvent> events = record(false, () -> {
            try (Pool pool = builder().build()) {
                final long first = pool.allocate(MIB);
                final long second = pool.allocate(MIB);
                pool.free(first);
                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(3 * MIB));
                pool.free(second);
            }
        });

        final RecordedEvent event = events.get(1);
        assertEquals("io.outboard.OutOfMemory", event.getEventType().getName());
        assertEquals(3 * MIB, event.getLong("requestedBytes"));
        assertEquals(3 * MIB, event.getLong("freeBytes"));
        assertEquals(2 * MIB, event.getLong("largestFreeBlockBytes"));
        assertEquals(0, event.getLong("limboBytes"));
        assertEquals(4 * MIB, event.getLong("heldBytes"));
        assertEquals(4 * MIB, event.getLong("limitBytes"));
        assertEquals("fragmented", event.getString("reason"));
    }

    @Test
    void shouldRecordBlocksIfAsked() throws IOException {
        final long[] address = new long[2];

        final List<RecordedEvent> events = record(true, () -> {
            try (Pool pool = builder().reuse(ReusePolicy.STREAM_ORDERED, device).build()) {
                address[0] = pool.allocate(1000, 512);
                pool.free(address[0]);
                address[1] = pool.allocateAsync(1000, 7);
                pool.freeAsync(address[1], 7);
                assertThrows(IllegalArgumentException.class, () -> pool.free(address[1]));
                assertThrows(IllegalArgumentException.class, () -> pool.allocate(0));
            }
        });

        final List<RecordedEvent> blocks = events.stream()
                .filter(event -> event.getEventType().getName().matches("io.outboard.(Allocation|Free)"))
                .toList();
        assertEquals(List.of("Allocation", "Free", "Allocation", "Free"), names(blocks));
        assertEquals(1000, blocks.get(0).getLong("requestedBytes"));
        assertEquals(512, blocks.get(0).getLong("alignmentBytes"));
        assertEquals(1024, blocks.get(1).getLong("sizeBytes"));
        for (int i = 0; i < 4; i++) {
            assertEquals(address[i / 2], blocks.get(i).getLong("address"));
            assertEquals(i < 2 ? -1 : 7, blocks.get(i).getLong("stream"));
        }
    }

    @Test
    void shouldRecordAFreeThoughTheDeviceFailsAfterIt() throws IOException {
        final List<RecordedEvent> events = record(true, () -> {
            try (Pool pool = builder()
                    .reuse(ReusePolicy.STRICT, device)
                    .limboLimitBytes(MIB)
                    .build()) {
                final long block = pool.allocate(4 * MIB);
                device.failAt(2, () -> new IllegalStateException("device"));
                assertThrows(IllegalStateException.class, () -> pool.free(block));
            }
        });

        final RecordedEvent free = events.get(names(events).indexOf("Free"));
        assertEquals(4 * MIB, free.getLong("sizeBytes"));
    }

    /** The event of a free begins before the block is free, and that of an allocation ends after the block is taken. */
    @Test
    void shouldLetAReaderOrderFreesAndAllocations() throws IOException {
        final List<RecordedEvent> events = record(true, () -> {
            try (Pool pool = builder().reuse(ReusePolicy.IMMEDIATE, device).build()) {
                for (int i = 0; i < 1000; i++) {
                    pool.free(pool.allocate(1));
                }
            }
        });

        Instant last = Instant.MIN;
        int seen = 0;
        for (final RecordedEvent event : events) {
            if (event.getEventType().getName().equals("io.outboard.Allocation")) {
                assertFalse(event.getStartTime().isBefore(last));
                last = event.getEndTime();
                seen++;
            } else if (event.getEventType().getName().equals("io.outboard.Free")) {
                assertFalse(event.getStartTime().isBefore(last));
                last = event.getEndTime();
                seen++;
            }
        }
        assertEquals(2000, seen);
    }

    /** Runs the action, waits until the recorder has asked twice more for samples, and returns them. */
    private List<RecordedEvent> samples(final Runnable meanwhile) throws IOException, InterruptedException {
        final Path path = folder.resolve("periodic.jfr");
        final CountDownLatch asked = new CountDownLatch(2);
        final Runnable hook = asked::countDown;
        try (Recording recording = new Recording()) {
            recording.enable(STATISTICS).withPeriod(Duration.ofMillis(20));
            recording.enable(Asked.class).withPeriod(Duration.ofMillis(20));
            recording.start();
            meanwhile.run();
            FlightRecorder.addPeriodicEvent(Asked.class, hook);
            assertTrue(asked.await(20, TimeUnit.SECONDS), "the recorder asks");
            recording.stop();
            recording.dump(path);
        } finally {
            FlightRecorder.removePeriodicEvent(hook);
        }
        return RecordingFile.readAllEvents(path).stream()
                .filter(event -> event.getEventType().getName().equals(STATISTICS))
                .toList();
    }

    /** This event has the same period as the samples, so it tells a test when they were asked for. */
    @StackTrace(false)
    static final class Asked extends Event {}

    @Test
    void shouldRecordTheStatisticsAgainAndAgain() throws Exception {
        try (Pool pool = builder().build();
                Pool unnamed = Pool.over(source).build()) {
            pool.allocate(MIB);
            pool.allocate(MIB);
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(4 * MIB));

            final List<RecordedEvent> events = samples(() -> {});

            final RecordedEvent event = events.stream()
                    .filter(each -> each.getString("pool").equals("recorded"))
                    .findFirst()
                    .orElseThrow();
            assertEquals("immediate", event.getString("policy"));
            assertEquals("tlsf", event.getString("strategy"));
            assertEquals(1, event.getInt("regions"));
            final PoolStatistics now = pool.statistics();
            for (final RecordComponent number : PoolStatistics.class.getRecordComponents()) {
                assertEquals(
                        ((Number) number.getAccessor().invoke(now)).longValue(),
                        event.getLong(number.getName()),
                        number.getName());
            }
            assertEquals(2 * MIB, event.getLong("freeBytes"));
            assertEquals(List.of("Outboard"), event.getEventType().getCategoryNames());
            assertTrue(
                    events.stream()
                            .anyMatch(each ->
                                    each.getString("pool").matches("#[0-9]+") && each.getLong("limitBytes") == -1),
                    unnamed::toString);
        }
    }

    @Test
    void shouldNotRecordTheStatisticsOfClosedPools() throws Exception {
        final Pool closed = builder().build();
        final Pool ended = Pool.over(source).name("ended").build();
        closed.close();
        ended.idle.sourceEnded();

        final List<RecordedEvent> events = samples(() -> {});

        assertFalse(StateEvents.SHOWN.contains(closed.diagnosis));
        assertTrue(
                events.stream().noneMatch(event -> event.getString("pool").matches("recorded|ended")),
                events::toString);
        ended.close();
    }

    /** Nobody has closed the pool, and nobody can any more. */
    @Test
    void shouldForgetALostPool() throws Exception {
        final WeakReference<Diagnosis> lost = losePool();
        final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (lost.get() != null && System.nanoTime() < deadline) {
            System.gc();
            Thread.onSpinWait();
        }

        assertNull(lost.get());
    }

    private WeakReference<Diagnosis> losePool() {
        final Pool pool = Pool.over(source).build();
        assertTrue(StateEvents.SHOWN.contains(pool.diagnosis));
        return new WeakReference<>(pool.diagnosis);
    }
}
