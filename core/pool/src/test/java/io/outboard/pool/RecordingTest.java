package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.internal.record.Recorder;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A pool records what it is asked for. */
class RecordingTest {

    private static final long MIB = 1L << 20;
    private static final int THREADS = 4;
    private static final int OPERATIONS = 60_000;

    /**
     * The number of threads that makes sure that each buffer has records. With FEW records of each thread, no buffer is
     * full.
     */
    private static final int WRITERS = 8;

    private static final int FEW = 450;

    private record Row(long nanos, long address, long stream, long packed) {

        int kind() {
            return Recorder.kind(packed);
        }

        long sizeBytes() {
            return Recorder.sizeBytes(packed);
        }

        long alignmentBytes() {
            return 1L << (packed >>> 40 & 0x3F);
        }
    }

    @TempDir
    private Path folder;

    /** The other recording may be of this process or of another, since the lock is the operating system's. */
    @Test
    void shouldLeaveAFileAloneThatAnotherRecordingWrites() throws IOException {
        try (Pool first = pool();
                Pool second = pool()) {
            final Closeable recording = first.record(file());
            first.free(first.allocate(MIB));

            assertThrows(AccessDeniedException.class, () -> second.record(file()));

            first.free(first.allocate(MIB));
            recording.close();
            assertEquals(4, rows(file()).size());

            second.record(file()).close();
            assertEquals(0, rows(file()).size());
        }
    }

    /** The second recording must not open the file, since closing it again would release the first one's lock. */
    @EnabledOnOs(OS.LINUX)
    @Test
    void shouldKeepItsLockWhileAnotherIsRefused() throws IOException {
        try (Pool first = pool();
                Pool second = pool();
                Closeable recording = first.record(file())) {
            assertNotNull(recording);
            assertTrue(isLocked(file()));

            assertThrows(AccessDeniedException.class, () -> second.record(file()));
            assertThrows(
                    AccessDeniedException.class,
                    () -> second.record(
                            folder.resolve("../").resolve(folder.getFileName()).resolve("program.rec")));

            assertTrue(isLocked(file()));
        }
        assertFalse(isLocked(file()));
    }

    /** Returns whether a file is locked; the kernel lists locks by the files' inode numbers. */
    private static boolean isLocked(final Path file) throws IOException {
        final String inode = ":" + Files.getAttribute(file, "unix:ino") + " ";
        return Files.readAllLines(Path.of("/proc/locks")).stream().anyMatch(line -> line.contains(inode));
    }

    @Test
    void shouldBeginInAThreadThatIsInterrupted() throws IOException {
        Files.writeString(file(), "what was there");
        try (Pool pool = pool()) {
            Thread.currentThread().interrupt();
            final Closeable recording = pool.record(file());
            assertTrue(Thread.interrupted());
            pool.free(pool.allocate(1));
            recording.close();
        }
        assertEquals(2, rows(file()).size());
    }

    private Path file() {
        return folder.resolve("program.rec");
    }

    private static Pool pool() {
        return Pool.over(new VirtualMemorySource(1L << 34)).build();
    }

    /** Returns all rows of a file, in the order of their times. */
    private static List<Row> rows(final Path file) throws IOException {
        final ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals("OUTBREC1", new String(content.array(), 0, 8, StandardCharsets.US_ASCII));
        assertEquals(Recorder.MAGIC, content.getLong());
        assertEquals(Recorder.VERSION, content.getInt());
        assertEquals(Recorder.RECORD_BYTES, content.getInt());
        assertEquals(256, content.getLong());
        assertEquals(0, content.getLong());
        final List<Row> rows = new ArrayList<>();
        while (content.hasRemaining()) {
            rows.add(new Row(content.getLong(), content.getLong(), content.getLong(), content.getLong()));
        }
        rows.sort(Comparator.comparingLong(Row::nanos));
        return rows;
    }

    @Test
    void shouldWriteDownWhatItHadNoMemoryFor() throws IOException {
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 34))
                        .limitBytes(MIB)
                        .build();
                Closeable recording = pool.record(file())) {
            assertNotNull(recording);
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(3 * MIB, 512));
        }

        final List<Row> rows = rows(file());
        assertEquals(1, rows.size());
        assertEquals(Recorder.FAILED, rows.get(0).kind());
        assertEquals(3 * MIB, rows.get(0).sizeBytes());
        assertEquals(512, rows.get(0).alignmentBytes());
        assertEquals(0, rows.get(0).address());
    }

    @Test
    void shouldWriteDownWhatItIsAsked() throws IOException {
        try (Pool pool = pool()) {
            final long before = pool.allocate(MIB);
            final long first;
            final long second;
            final long start = System.nanoTime();
            try (Closeable recording = pool.record(file())) {
                assertNotNull(recording);
                first = pool.allocate(1000);
                second = pool.allocate(3 * MIB, 4096);
                pool.trim(second, MIB);
                assertTrue(pool.extend(second, 2 * MIB));
                pool.freeAsync(first, 7);
                pool.free(before);
                pool.free(second);
            }
            final long end = System.nanoTime();
            pool.allocate(MIB);

            final List<Row> rows = rows(file());
            final List<Long> expected = List.of(first, second, second, second, first, before, second);
            assertEquals(expected, rows.stream().map(Row::address).toList());
            assertEquals(
                    List.of(0, 0, 2, 2, 1, 1, 1), rows.stream().map(Row::kind).toList());
            assertEquals(
                    List.of(1000L, 3 * MIB, MIB, 2 * MIB, 0L, 0L, 0L),
                    rows.stream().map(Row::sizeBytes).toList());
            assertEquals(
                    List.of(-1L, -1L, -1L, -1L, 7L, -1L, -1L),
                    rows.stream().map(Row::stream).toList());
            assertEquals(1, rows.get(0).alignmentBytes());
            assertEquals(4096, rows.get(1).alignmentBytes());
            for (final Row row : rows) {
                assertTrue(row.nanos() >= start && row.nanos() <= end, row::toString);
                assertEquals(Thread.currentThread().getId() & 0xFFFF, Recorder.thread(row.packed()));
            }
        }
    }

    @Test
    void shouldLeaveOutWrongCalls() throws IOException {
        try (Pool pool = pool();
                Closeable recording = pool.record(file())) {
            assertNotNull(recording);
            assertThrows(InvalidAddressException.class, () -> pool.free(12345));
            assertThrows(IllegalArgumentException.class, () -> pool.allocate(0));
            pool.allocate(1);
        }
        assertEquals(1, rows(file()).size());
    }

    /** There are more rows than all buffers hold. Threads have arenas, free each other's blocks and get them again. */
    @Test
    void shouldLeaveOutNothingAndShowEachAddressFreedBeforeItIsTakenAgain() throws Exception {
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 34))
                        .spread(THREADS)
                        .build();
                Closeable recording = pool.record(file())) {
            assertNotNull(recording);
            final AtomicReference<Throwable> thrown = new AtomicReference<>();
            final ConcurrentLinkedQueue<Long> shared = new ConcurrentLinkedQueue<>();
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                final SplittableRandom random = new SplittableRandom(i);
                threads.add(new Thread(() -> {
                    try {
                        for (int operation = 0; operation < OPERATIONS; operation++) {
                            final Long other = random.nextInt(3) == 0 ? shared.poll() : null;
                            if (other != null) {
                                pool.free(other);
                            } else {
                                shared.add(pool.allocate(1 + random.nextInt(3000)));
                            }
                        }
                    } catch (final RuntimeException | Error e) {
                        thrown.set(e);
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (final Thread thread : threads) {
                thread.join();
            }
            assertNull(thrown.get());
        }
        final List<Row> rows = rows(file());
        assertEquals(THREADS * OPERATIONS, rows.size());
        final Map<Long, Row> live = new HashMap<>();
        for (final Row row : rows) {
            if (row.kind() == Recorder.FREED) {
                assertNotNull(live.remove(row.address()), row::toString);
            } else {
                final Row other = live.put(row.address(), row);
                assertNull(other, () -> row + " while " + other);
            }
        }
    }

    /** Each thread takes what another has just freed, as fast as possible. */
    @Test
    void shouldShowABlockFreedBeforeAnotherThreadTakesIt() throws Exception {
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 34)).spread(1).build();
                Closeable recording = pool.record(file())) {
            assertNotNull(recording);
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(new Thread(() -> {
                    for (int operation = 0; operation < 5 * OPERATIONS; operation++) {
                        pool.free(pool.allocate(1));
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (final Thread thread : threads) {
                thread.join();
            }
        }
        final Map<Long, Row> live = new HashMap<>();
        for (final Row row : rows(file())) {
            if (row.kind() == Recorder.FREED) {
                assertNotNull(live.remove(row.address()), row::toString);
            } else {
                final Row other = live.put(row.address(), row);
                assertNull(other, () -> row + " while " + other);
            }
        }
    }

    /** A channel would be closed by the interrupt. */
    @Test
    void shouldGoOnInAThreadThatIsInterrupted() throws IOException {
        try (Pool pool = pool();
                Closeable recording = pool.record(file())) {
            assertNotNull(recording);
            Thread.currentThread().interrupt();
            for (int i = 0; i < OPERATIONS; i++) {
                pool.free(pool.allocate(1));
            }
            assertTrue(Thread.interrupted());
        }
        assertEquals(2 * OPERATIONS, rows(file()).size());
    }

    /** What one thread has taken to write must not be lost by the other. */
    @Test
    void shouldEndOnceThoughSeveralEndIt() throws Exception {
        for (int round = 0; round < 20; round++) {
            final Pool pool = pool();
            final Closeable recording = pool.record(file());
            final List<Thread> workers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                workers.add(new Thread(() -> {
                    for (int block = 0; block < FEW; block++) {
                        pool.free(pool.allocate(1));
                    }
                }));
            }
            workers.forEach(Thread::start);
            for (final Thread worker : workers) {
                worker.join();
            }
            final AtomicReference<Throwable> thrown = new AtomicReference<>();
            final Thread other = new Thread(() -> {
                try {
                    recording.close();
                } catch (final IOException | RuntimeException e) {
                    thrown.set(e);
                }
            });
            other.start();
            pool.close();
            other.join();
            assertNull(thrown.get());
            assertEquals(2 * FEW * WRITERS, rows(file()).size());
        }
    }

    /** The block is freed, or taken, and the caller must not believe otherwise. */
    @Test
    void shouldNotThrowForWantOfStackOnceThePoolHasDoneIt() throws IOException {
        try (Pool pool = pool()) {
            final Closeable recording = pool.record(file());
            final int[] done = new int[2];
            final long[] blocks = new long[1 << 16];
            boolean broken = false;
            for (int depth = 0; depth < 30 && !broken; depth++) {
                broken = isBrokenIn(() -> deeper(pool, blocks, done));
            }
            if (!broken) {
                assertEquals(done[0] - done[1], pool.statistics().liveBlocks());
            }
            try {
                recording.close();
            } catch (final IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("no stack or host memory"), e::getMessage);
            }
        }
    }

    /** Returns whether the pool is broken. It then says so at each call, and what was done isn't known. */
    private static boolean isBrokenIn(final Runnable calls) {
        try {
            calls.run();
            return false;
        } catch (final IllegalStateException e) {
            assertTrue(String.valueOf(e.getMessage()).contains("broken"), e::toString);
            return true;
        }
    }

    /**
     * Takes or frees a block where the stack ends, and in the frames above as long as that fails; counts what was done.
     */
    @SuppressWarnings("InfiniteRecursion")
    private static void deeper(final Pool pool, final long[] blocks, final int[] done) {
        try {
            deeper(pool, blocks, done);
        } catch (final StackOverflowError e) {
            if (done[0] > done[1] && done[0] % 3 == 0) {
                pool.free(blocks[done[1]]);
                done[1]++;
            } else {
                blocks[done[0]] = pool.allocate(1);
                done[0]++;
            }
        }
    }

    @Test
    void shouldTellWhatIsWrong() throws IOException {
        final Pool pool = pool();
        assertThrows(FileNotFoundException.class, () -> pool.record(folder.resolve("no/such/folder")));
        final Closeable recording = pool.record(file());
        assertThrows(IllegalStateException.class, () -> pool.record(folder.resolve("other")));
        assertFalse(Files.exists(folder.resolve("other")));
        recording.close();
        recording.close();
        pool.record(folder.resolve("other"));
        pool.allocate(1);
        pool.close();
        assertEquals(1, rows(folder.resolve("other")).size());
        assertThrows(IllegalStateException.class, () -> pool.record(file()));
    }

    @Test
    void shouldGoOnWhenTheDiskIsFull() throws IOException {
        final Path fullDisk = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.exists(fullDisk), "skipped, needs /dev/full");
        assertThrows(IOException.class, () -> pool().record(fullDisk));

        // A pipe that nobody reads any more stands for a disk that fills up after the header.
        final Path pipe = folder.resolve("pipe");
        Assumptions.assumeTrue(isMade(pipe), "skipped, needs mkfifo");
        final Thread reader = new Thread(() -> {
            try (InputStream in = Files.newInputStream(pipe)) {
                in.readNBytes(Recorder.RECORD_BYTES);
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        reader.start();
        try (Pool pool = pool()) {
            final Closeable recording = pool.record(pipe);
            join(reader);
            for (int i = 0; i < OPERATIONS; i++) {
                pool.free(pool.allocate(1));
            }
            final IOException thrown = assertThrows(IOException.class, recording::close);
            assertTrue(String.valueOf(thrown.getMessage()).startsWith("the recording " + pipe + " is incomplete: "));
            pool.free(pool.allocate(1));
        }
    }

    private static boolean isMade(final Path pipe) {
        try {
            return new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0;
        } catch (final IOException e) {
            return false;
        } catch (final InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void join(final Thread thread) {
        try {
            thread.join();
        } catch (final InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
