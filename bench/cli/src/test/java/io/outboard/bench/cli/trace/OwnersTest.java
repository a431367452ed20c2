package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.Program;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import io.outboard.pool.internal.record.Recorder;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests check what each kind of file tells of who allocated a block. */
class OwnersTest {

    private static final long STREAM = 0x7F00_1000L;

    @TempDir
    private Path folder;

    /** Returns the owner of each allocation; the operations must be the same as when read without owners. */
    private static List<String> ownersIn(final Path file) throws IOException {
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(file, owners);
        assertArrayEquals(TraceReader.read(file).operations(), trace.operations());
        final int allocations = (int) Arrays.stream(trace.operations())
                .filter(operation -> !Trace.isFree(operation))
                .count();
        assertEquals(Owners.UNKNOWN, owners.owner(allocations));
        return IntStream.range(0, allocations)
                .mapToObj(i -> owners.table().get(owners.owner(i)).text())
                .toList();
    }

    /** Returns the times of the operations. */
    private static long[] nanosIn(final Path file) throws IOException {
        final Owners owners = new Owners();
        TraceReader.read(file, owners);
        return owners.nanos();
    }

    private static List<String> namesIn(final Owners owners) {
        return owners.table().stream().map(Owners.Owner::text).toList();
    }

    private Path rmmLog(final String... rows) throws IOException {
        return Files.writeString(
                folder.resolve("log.csv"), "Thread,Time,Action,Pointer,Size,Stream\n" + String.join("\n", rows) + "\n");
    }

    /** Writes rows of time, address, stream, and a number that {@link Recorder#packed} made. */
    private Path recording(final long... rows) throws IOException {
        final ByteBuffer bytes =
                ByteBuffer.allocate(32 + Long.BYTES * rows.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(Recorder.MAGIC).putInt(Recorder.VERSION).putInt(Recorder.RECORD_BYTES);
        bytes.putLong(256).putLong(0);
        bytes.asLongBuffer().put(rows);
        return Files.write(folder.resolve("program.rec"), bytes.array());
    }

    private static long allocatedBy(final int thread) {
        return Recorder.packed(Recorder.ALLOCATED, 1000, 1, thread);
    }

    private static long freedBy(final int thread) {
        return Recorder.packed(Recorder.FREED, 0, 1, thread);
    }

    @Test
    void shouldReadThoseOfRmm() throws IOException {
        final Path log = rmmLog(
                "17,1,allocate,0x100,10,0x7f00",
                "18,2,allocate failure,0x0,10,0x7f00",
                "18,3,allocate,0x200,0,0x1",
                "18,4,allocate,0x300,10,0",
                "19,5,free,0x100,10,0x2",
                " ,6,allocate,0x100,10,0x7f00",
                "17,7,allocate,0x400,10,0x7f00",
                "17,8,allocate,0x500,10,",
                ",9,allocate,0x600,10,");

        assertEquals(
                List.of(
                        "thread 17, stream 0x7f00",
                        "thread 18, stream 0x7f00",
                        "thread 18, stream 0",
                        "stream 0x7f00",
                        "thread 17, stream 0x7f00",
                        "thread 17",
                        ""),
                ownersIn(log));
    }

    /**
     * Owners are in the order of the times, though the file has another; a block whose free is missing has an owner
     * too.
     */
    @Test
    void shouldReadThoseOfRecordings() throws IOException {
        final Path file = recording(
                30,
                0x2000,
                STREAM,
                allocatedBy(3),
                40,
                0x1000,
                -1,
                allocatedBy(4),
                10,
                0x1000,
                -1,
                allocatedBy(1),
                15,
                0x2000,
                7,
                freedBy(9),
                20,
                0x3000,
                0,
                allocatedBy(2),
                50,
                0x3000,
                7,
                freedBy(9),
                60,
                0x3000,
                STREAM,
                allocatedBy(3));

        assertEquals(
                List.of(
                        "thread 1",
                        "thread 2, stream 0x0",
                        "thread 3, stream 0x7f001000",
                        "thread 4",
                        "thread 3, stream 0x7f001000"),
                ownersIn(file));
    }

    @Test
    void shouldReadWhatAPoolAndJfrRecorded() throws IOException, InterruptedException {
        final Path recorded = folder.resolve("program.rec");
        final Path flight = folder.resolve("program.jfr");
        final Thread other;
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30))
                        .reuse(ReusePolicy.STREAM_ORDERED, DeviceWork.NONE)
                        .build();
                Recording recording = new Recording()) {
            recording.enable("io.outboard.Allocation").withoutStackTrace();
            recording.enable("io.outboard.Free").withoutStackTrace();
            recording.start();
            try (Closeable recorder = pool.record(recorded)) {
                assertNotNull(recorder);
                other = new Thread(() -> pool.allocateAsync(500, STREAM), "loader");
                pool.free(pool.allocate(1000));
                other.start();
                other.join();
                pool.allocateAsync(300, STREAM);
            }
            recording.stop();
            recording.dump(flight);
        }

        final String stream = ", stream 0x7f001000";
        final long self = Thread.currentThread().getId();
        final String name = " (" + Thread.currentThread().getName() + ")";
        assertEquals(
                List.of("thread " + self, "thread " + other.getId() + stream, "thread " + self + stream),
                ownersIn(recorded));
        assertEquals(
                List.of(
                        "thread " + self + name,
                        "thread " + other.getId() + " (loader)" + stream,
                        "thread " + self + name + stream),
                ownersIn(flight));
    }

    /** The innermost frames, Outboard's, aren't the place of an allocation; their stack begins at the user's. */
    @Test
    void shouldReadTheUsersFramesOfJfr() throws IOException {
        final Path flight = folder.resolve("program.jfr");
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30)).build();
                Recording recording = new Recording()) {
            recording.enable("io.outboard.Allocation").withStackTrace();
            recording.enable("io.outboard.Free").withoutStackTrace();
            recording.start();
            pool.free(Program.step(pool::allocate, 1000));
            recording.stop();
            recording.dump(flight);
        }
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(flight, owners);

        final Owners.Owner owner = owners.table().get(owners.owner(0));
        assertEquals("com.example.Program.step:12", owner.site());
        final List<String> stack = owners.stacks().get(owner.stack());
        assertEquals(owner.site(), stack.get(0));
        assertTrue(
                stack.get(1).startsWith("io.outboard.bench.cli.trace.OwnersTest.shouldReadTheUsersFramesOfJfr:"),
                stack::toString);
        assertEquals(trace.operations().length, owners.nanos().length);
    }

    /** The documented depth of {@code jfr print} suffices for the user's frames, of all events that a call causes. */
    @Test
    void shouldHaveTheUsersFramesWithinTheDocumentedDepth() throws IOException {
        final Path flight = folder.resolve("program.jfr");
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30)).build();
                Recording recording = new Recording()) {
            recording.enable("io.outboard.Allocation");
            recording.enable("io.outboard.RegionTaken");
            recording.start();
            Program.step(pool::allocate, 1000);
            recording.stop();
            recording.dump(flight);
        }

        final Set<String> wanted = Set.of("io.outboard.Allocation", "io.outboard.RegionTaken");
        final Set<String> seen = new TreeSet<>();
        for (final RecordedEvent event : RecordingFile.readAllEvents(flight)) {
            final String name = event.getEventType().getName();
            if (wanted.contains(name)) {
                seen.add(name);
                assertTrue(
                        event.getStackTrace().getFrames().stream()
                                .limit(20)
                                .anyMatch(frame ->
                                        frame.getMethod().getType().getName().equals(Program.class.getName())),
                        event::toString);
            }
        }
        assertEquals(wanted, seen);
    }

    /** Times are of the day and go on after midnight; a row that a slower thread wrote late isn't before another. */
    @Test
    void shouldReadTheTimesOfRmm() throws IOException {
        final Path log = rmmLog(
                "17,23:59:59.000001,allocate,0x100,10,0x0",
                "17,23:59:59:500001,allocate failure,0x0,10,0x0",
                "17,00:00:01.000002,allocate,0x200,10,0x0",
                "18,00:00:01.000001,free,0x100,10,0x0",
                "17,23:59:59.000001,free,0x200,10,0x0",
                "17,00:00:00.000001,allocate,0x200,10,0x0");

        assertArrayEquals(
                new long[] {
                    0, 500_000_000, 500_000_000, 2_000_001_000, 2_000_001_000, 86_400_000_000_000L, 86_401_000_000_000L
                },
                nanosIn(log));
    }

    @Test
    void shouldHaveNoTimesWhereALogOnlyCounts() throws IOException {
        assertEquals(0, nanosIn(rmmLog("17,1,allocate,0x100,10,0x0", "17,2,free,0x100,10,0x0")).length);
        assertEquals(0, nanosIn(rmmLog("17,00:00:01.000002,allocate,0x1,1,0x0", "17,,free,0x1,1,0x0")).length);
    }

    /** Times are in order; the third block's free is missing, and is when its address is allocated again. */
    @Test
    void shouldReadTheTimesOfRecordings() throws IOException {
        final Path file = recording(
                1030,
                0x2000,
                0,
                allocatedBy(1),
                1010,
                0x1000,
                0,
                allocatedBy(1),
                1050,
                0x2000,
                0,
                allocatedBy(1),
                1040,
                0x1000,
                0,
                freedBy(1));

        assertArrayEquals(new long[] {0, 20, 30, 40, 40}, nanosIn(file));
    }

    @Test
    void shouldKnowNobodyInHpTrace() throws IOException {
        final Path file = folder.resolve("mid");
        TraceWriter.writeHpTrace(Profiles.named("mid", 100), file);

        assertEquals(List.of(""), ownersIn(file).stream().distinct().toList());
        assertEquals(0, nanosIn(file).length);
    }

    @Test
    void shouldHaveOneNumberForEachOwner() {
        final Owners owners = new Owners();
        final int first = owners.numberOf("17", STREAM);

        assertEquals(first, owners.numberOf("17", "0x7f001000"));
        assertEquals(first + 1, owners.numberOf("18", STREAM));
        assertEquals(first, owners.numberOf("17", STREAM));
        assertEquals(List.of("", "thread 17, stream 0x7f001000", "thread 18, stream 0x7f001000"), namesIn(owners));
    }

    /**
     * However many owners a file names, and however long their names, the table stays small, and known owners stay
     * known.
     */
    @Test
    void shouldKeepTheTableSmall() {
        final Owners owners = new Owners();
        for (int i = 1; i < Owners.MOST_OWNERS; i++) {
            assertEquals(i, owners.numberOf(Integer.toString(i), 0));
        }

        assertEquals(Owners.UNKNOWN, owners.numberOf("one more", 0));
        assertEquals(7, owners.numberOf("7", 0));
        assertEquals(Owners.MOST_OWNERS, owners.table().size());

        final String rocket = "\uD83D\uDE80";
        final Owners longer = new Owners();
        longer.numberOf("1" + rocket.repeat(1000), "0".repeat(1000));
        final String name = namesIn(longer).get(1);
        assertEquals("thread 1" + rocket.repeat(19) + "?, stream " + "0".repeat(Owners.MOST_LETTERS), name);
        assertTrue(StandardCharsets.UTF_8.newEncoder().canEncode(name));
    }

    /** Many stacks at one place take half of the table, and then the place alone is known. */
    @Test
    void shouldLeaveRoomForPlacesWithoutStacks() {
        final Owners owners = new Owners();
        for (int i = 1; i < Owners.MOST_OWNERS / 2; i++) {
            assertEquals(i, owners.numberOf(new Owners.Place("a", owners.stackOf(List.of("frame " + i))), "", 0));
        }

        final int last = owners.numberOf(new Owners.Place("a", owners.stackOf(List.of("one more"))), "", 0);
        assertEquals(
                new Owners.Owner("a", "", "0x0", Owners.NO_STACK),
                owners.table().get(last));
    }

    /** Equal stacks have one number; whatever a file says, stacks are cut, and those that come too late are empty. */
    @Test
    void shouldKeepTheStacksSmall() {
        final Owners owners = new Owners();
        final List<String> deep = Collections.nCopies(1000, "x".repeat(1000));
        assertEquals(1, owners.stackOf(deep));
        assertEquals(1, owners.stackOf(deep));
        assertEquals(
                Collections.nCopies(Owners.MOST_DEPTH, "x".repeat(Owners.MOST_FRAME_LETTERS)),
                owners.stacks().get(1));
        assertEquals(Owners.NO_STACK, owners.stackOf(List.of()));
        for (int i = 2; i < Owners.MOST_OWNERS; i++) {
            assertEquals(i, owners.stackOf(List.of("frame " + i)));
        }

        assertEquals(Owners.NO_STACK, owners.stackOf(List.of("frame 2", "frame 3")));
        assertEquals(7, owners.stackOf(List.of("frame 7")));

        final Owners many = new Owners();
        for (int i = 0; i < Owners.MOST_OWNERS; i += Owners.MOST_DEPTH) {
            final int first = i;
            many.stackOf(IntStream.range(first, first + Owners.MOST_DEPTH)
                    .mapToObj(Integer::toString)
                    .toList());
        }
        assertEquals(Owners.NO_STACK, many.stackOf(List.of("one more")));
    }
}
