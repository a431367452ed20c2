package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.internal.facade.GpuProgram;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.service.LenderStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * This class tests a lender and its clients, each a process of its own, on one GPU. The tests need JDK 22 or newer, and
 * Outboard's classes in their jars, as the GPU bundle has them. {@code -Doutboard.kills} says how many clients are
 * killed, 10 unless it is set. The twins without a GPU are {@link CudaLeasesTest} and {@link CudaLendingDeviceTest}.
 */
@Tag("gpu")
@Timeout(600)
class LenderGpuTest {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    /**
     * The size of each lease in tests with kills; with some ten thousand small ones, taking leases would dominate the
     * time.
     */
    private static final long PIECE = 256 * MIB;

    private static final double SHARE = 0.85;
    private static final int VICTIMS = 5;
    private static final int WRITE_MILLIS = 2000;
    private static final int WATCH_MILLIS = 3000;
    private static final long MILLI_NANOS = 1_000_000;
    private static final long MOST_WAIT_NANOS = 20_000_000_000L;

    /** The driver may keep or take a few pages of its own between two readings. */
    private static final long TOLERANCE_BYTES = 64 * MIB;

    @TempDir
    Path folder;

    private final List<ChildJvm> children = new ArrayList<>();

    @BeforeEach
    void require() {
        Gpu.require();
        Assumptions.assumeTrue(
                DriverLibrary.sharedMemory().isPresent(),
                "skipped, needs JDK 22 or newer, and the classes in their jar");
    }

    @AfterEach
    void end() {
        children.forEach(ChildJvm::close);
    }

    private Path socket() {
        return folder.resolve("gpu0");
    }

    private ChildJvm lender(final Path socket, final int spares, final String... quotas) throws IOException {
        final List<Object> arguments = new ArrayList<>(List.of(socket, SHARE, spares));
        arguments.addAll(List.of(quotas));
        final ChildJvm started = ChildJvm.start(LenderMain.class, arguments.toArray());
        children.add(started);
        assertEquals("ready", started.answer());
        return started;
    }

    private List<ChildJvm> clients(final Path socket, final String... names) throws IOException {
        // A client would fail without this file, so the test is skipped.
        GpuProgram.text("write-after.ptx.gz");
        final List<ChildJvm> started = new ArrayList<>();
        for (final String name : names) {
            started.add(ChildJvm.start(LeaseClient.class, socket, name));
        }
        children.addAll(started);
        for (final ChildJvm each : started) {
            assertEquals("ready", each.answer());
        }
        return started;
    }

    private static void succeed(final ChildJvm child, final String command) throws IOException {
        final String answer = child.ask(command);
        assertTrue(answer.startsWith("ok"), () -> child.pid() + " " + command + ": " + answer);
    }

    private static void await(final BooleanSupplier condition, final Supplier<String> state) {
        final long end = System.nanoTime() + MOST_WAIT_NANOS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - end < 0, state);
            LockSupport.parkNanos(MILLI_NANOS);
        }
    }

    private LenderStatus status() {
        try {
            return LenderStatus.of(socket());
        } catch (final IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long whole(final double bytes) {
        return (long) bytes / PIECE * PIECE;
    }

    @Test
    void shouldLendToTwoProcessesAndTakeBackUnderPressure() throws IOException {
        lender(socket(), 0);
        final List<ChildJvm> both = clients(socket(), "day", "night");
        final ChildJvm day = both.get(0);
        final ChildJvm night = both.get(1);
        final long limitBytes = status().limitBytes();

        succeed(day, "take " + GIB + " " + 64 * MIB);
        succeed(day, "fill 1");
        succeed(night, "take " + GIB + " " + 64 * MIB);
        succeed(night, "fill 2");
        succeed(day, "check 1");
        succeed(night, "check 2");
        succeed(day, "give");
        succeed(night, "give");
        await(() -> status().lentBytes() == 0, () -> status().toString());

        final long mostBytes = whole(limitBytes * 0.6);
        for (int i = 0; i < 2; i++) {
            succeed(day, "allocate " + mostBytes);
            succeed(day, "free");
            succeed(night, "allocate " + mostBytes);
            succeed(night, "free");
        }
        assertTrue(status().lentBytes() <= limitBytes, () -> status().toString());
    }

    /**
     * Clients with most of the device's memory are killed while kernels write to all of it. The memory that another
     * client is lent then must be its own: it is zero, and stays so.
     */
    @Test
    void shouldLendNothingThatADeadClientWritesTo(final TestReporter reporter) throws Exception {
        final long seed = Long.getLong("outboard.seed", System.nanoTime());
        final SplittableRandom random = new SplittableRandom(seed);
        reporter.publishEntry("seed", String.valueOf(seed));
        lender(socket(), 2);
        final List<ChildJvm> others = clients(socket(), "bystander", "watcher");
        final ChildJvm bystander = others.get(0);
        final ChildJvm watcher = others.get(1);
        final long limitBytes = status().limitBytes();
        final long bystanderBytes = whole(limitBytes * 0.1);
        final long victimBytes = whole(limitBytes * 0.7 / VICTIMS);
        final long watcherBytes = VICTIMS * victimBytes;
        succeed(bystander, "take " + bystanderBytes + " " + PIECE);
        succeed(bystander, "fill 7");
        // The watcher uses its kernels before the measurement, since modules are loaded when they are first used.
        succeed(watcher, "take " + PIECE + " " + PIECE);
        succeed(watcher, "give");
        try (CudaMemorySource device = CudaMemorySource.open(0)) {
            // The test waits until what clients and the lender had ahead of need is returned.
            await(() -> status().lentBytes() == bystanderBytes, () -> status().toString());
            final long usedBefore = device.usedBytes() - status().spareBytes();
            for (int kills = 0; kills < Integer.getInteger("outboard.kills", 2 * VICTIMS); kills += VICTIMS) {
                final List<ChildJvm> victims = writers(victimBytes);
                killAtRandom(victims, random);
                final long begin = System.nanoTime();

                succeed(watcher, "take " + watcherBytes + " " + PIECE);

                reporter.publishEntry(
                        watcherBytes / MIB + " MiB of " + VICTIMS
                                + " dead clients lent anew and zero, ms after the last kill",
                        String.valueOf((System.nanoTime() - begin) / MILLI_NANOS));
                succeed(watcher, "watch 0 " + WATCH_MILLIS);
                succeed(watcher, "fill 9");
                succeed(watcher, "watch 9 " + WATCH_MILLIS);
                for (final ChildJvm victim : victims) {
                    victim.awaitEnd();
                }
                succeed(watcher, "give");
                succeed(bystander, "check 7");
                await(() -> status().lentBytes() == bystanderBytes, () -> status().toString());
                // The memory in use may be less if a spare was being made before.
                await(
                        () -> device.usedBytes() - status().spareBytes() <= usedBefore + TOLERANCE_BYTES,
                        () -> "used=" + device.usedBytes() + ", before=" + usedBefore + ", " + status());
            }
        }
    }

    private List<ChildJvm> writers(final long bytes) throws IOException {
        final String[] names = new String[VICTIMS];
        for (int i = 0; i < VICTIMS; i++) {
            names[i] = "victim" + i;
        }
        final List<ChildJvm> victims = clients(socket(), names);
        for (final ChildJvm victim : victims) {
            succeed(victim, "take " + bytes + " " + PIECE);
        }
        for (final ChildJvm victim : victims) {
            succeed(victim, "write 85 " + WRITE_MILLIS);
        }
        return victims;
    }

    /** Kills the clients at a random moment of the time that their kernels take. */
    private static void killAtRandom(final List<ChildJvm> victims, final SplittableRandom random) {
        for (final ChildJvm victim : victims) {
            LockSupport.parkNanos(random.nextLong(WRITE_MILLIS * MILLI_NANOS / VICTIMS));
            victim.kill();
        }
    }

    @Test
    void shouldSayWhyThereIsNoneAndOutliveItsLender() throws Exception {
        final ChildJvm first = lender(socket(), 0, "small=0:512MiB");
        final List<ChildJvm> both = clients(socket(), "small", "large");
        final ChildJvm small = both.get(0);
        final ChildJvm large = both.get(1);
        final long largeBytes = (status().limitBytes() - PIECE) / PIECE * PIECE;
        succeed(large, "take " + largeBytes + " " + PIECE);
        succeed(large, "fill 3");

        final String overQuota = small.ask("take " + GIB + " " + GIB);
        assertTrue(overQuota.contains("the client's quota is used up: small may have 512MiB"), overQuota);
        final String full = small.ask("take " + 512 * MIB + " " + 64 * MIB);
        assertTrue(full.contains("the device is full"), full);
        assertTrue(full.contains("held by large (pid " + large.pid() + ")"), full);

        first.kill();
        first.awaitEnd();
        final String gone = small.ask("take " + 64 * MIB + " " + 64 * MIB);
        assertTrue(gone.contains("lender gone"), gone);
        succeed(large, "check 3");

        lender(socket(), 0, "small=0:512MiB");
        await(() -> answers(small, "take " + 64 * MIB + " " + 64 * MIB), () -> status().toString());
        await(() -> status().lentBytes() == largeBytes + 64 * MIB, () -> status().toString());
        succeed(large, "check 3");
        succeed(large, "give");
        succeed(small, "give");
        await(() -> status().lentBytes() == 0, () -> status().toString());
    }

    private static boolean answers(final ChildJvm child, final String command) {
        try {
            return child.ask(command).startsWith("ok");
        } catch (final IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldTellHowFastLeasesAndAllocationsAre(final TestReporter reporter) throws IOException {
        final String bytes = " " + 64 * MIB;
        final ChildJvm withoutSpares = lender(socket(), 0);
        final ChildJvm first = clients(socket(), "timed").get(0);
        final long[] bare = figures(first, "time 200" + bytes);
        final long[] speed = figures(first, "speed 41");
        // A device has one lender at a time.
        first.close();
        withoutSpares.close();
        lender(socket(), 8);
        final ChildJvm second = clients(socket(), "timed").get(0);
        final long[] spare = figures(second, "time 200" + bytes);
        final long[] grown = figures(second, "grow 64" + bytes);

        reporter.publishEntry("lease of 64 MiB, mapped, without spares, ms: median, 99 %", millis(bare));
        reporter.publishEntry("lease of 64 MiB, mapped, with spares, ms: median, 99 %", millis(spare));
        reporter.publishEntry("lease of 64 MiB, mapped, in steady growth, ms: median, 99 %", millis(grown));
        final double ratio = (double) speed[0] / speed[1];
        reporter.publishEntry(
                "a block of a pool over leases, over one of the same pool without a lender",
                String.format(Locale.ROOT, "%.3f (%.1f and %.1f ns)", ratio, speed[0] * 1e-3, speed[1] * 1e-3));
        // The promised time is shorter; this limit finds faults, not noise.
        assertTrue(bare[0] < 5 * MILLI_NANOS, () -> millis(bare));
        assertTrue(spare[0] < 5 * MILLI_NANOS, () -> millis(spare));
        assertTrue(ratio < 1.25, () -> "ratio=" + ratio);
    }

    private static long[] figures(final ChildJvm child, final String command) throws IOException {
        final String answer = child.ask(command);
        assertTrue(answer.startsWith("ok "), () -> command + ": " + answer);
        final String[] words = answer.split(" ", -1);
        return new long[] {Long.parseLong(words[1]), Long.parseLong(words[2])};
    }

    private static String millis(final long[] nanos) {
        return String.format(Locale.ROOT, "%.3f, %.3f", nanos[0] * 1e-6, nanos[1] * 1e-6);
    }

    /** The program calls CUDA's functions and knows nothing of leases. */
    @Test
    void shouldServeAProgramBehindAFacade() throws IOException {
        lender(socket(), 0);
        final ChildJvm program = ChildJvm.start(LeaseClient.class, socket(), "facade", 200 * MIB);
        children.add(program);

        final String held = program.answer();
        assertTrue(held.startsWith("ok ") && Long.parseLong(held.substring(3)) >= 200 * MIB, held);
        assertEquals("code 2", program.answer());
        assertEquals("ok", program.answer());
        await(() -> status().lentBytes() == 0, () -> status().toString());
    }
}
