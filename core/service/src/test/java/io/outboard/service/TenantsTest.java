package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Effort;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many clients in processes of their own, src/test/c/tenant.c, lease, write, read again and give back at random. They
 * are killed at any moment, or counted at quiet moments. With -Plong the tests take longer, and with
 * -Doutboard.long=100 they take hours.
 */
@Tag("thorough")
class TenantsTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    /** The number of clients at a time that are killed; together they want twice the memory that there is. */
    private static final int MORTALS = 8;

    private static final int SOAKED = 16;

    /**
     * The number of kills when all random choices are tried; {@link Effort#tries} says how many of them this run tries.
     */
    private static final int KILLS = 1000;

    private static final int SOAK_MILLIS = 8_000;

    @TempDir
    Path folder;

    private final List<Process> tenants = new ArrayList<>();
    private Lender lender;
    private Path program;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        Jvm.assumeLeases();
        program = NativeProgram.compile("tenant", folder);
        lender = Lender.of(LendingDevice.memory(64 * UNIT)).spares(2).start(folder.resolve("lender"));
    }

    @AfterEach
    void end() {
        tenants.forEach(Process::destroyForcibly);
        if (lender != null) {
            lender.close();
        }
    }

    private Process tenant(final long seed) {
        try {
            final Process tenant = new ProcessBuilder(
                            program.toString(), lender.socket().toString(), "tenant", Long.toUnsignedString(seed))
                    .start();
            tenants.add(tenant);
            return tenant;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isKnown(final long pid) {
        return lender.status().clients().stream().anyMatch(client -> client.pid() == pid);
    }

    @Test
    void shouldHaveBackWhatTheKilledHeld(final TestReporter reporter) throws InterruptedException {
        final Random random = new Random();
        final int kills = Effort.tries(KILLS);
        final long[] nanos = new long[kills];
        final List<Process> living = new ArrayList<>();
        for (int i = 0; i < kills; i++) {
            while (living.size() < MORTALS) {
                living.add(tenant(random.nextLong()));
            }
            LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(10)));
            final Process killed = living.remove(random.nextInt(MORTALS));
            assertTrue(killed.isAlive(), () -> "a tenant has ended by itself: " + said(killed));
            tenants.remove(killed);

            killed.destroyForcibly();
            killed.waitFor();
            final long end = System.nanoTime();
            Await.until(() -> !isKnown(killed.pid()), () -> lender.status());
            nanos[i] = System.nanoTime() - end;
        }
        living.forEach(Process::destroyForcibly);
        for (final Process each : living) {
            each.waitFor();
        }

        Await.until(() -> lender.status().clients().isEmpty(), () -> lender.status());
        assertEquals(0, lender.status().lentBytes());
        Arrays.sort(nanos);
        reporter.publishEntry(
                "killed",
                kills + ", off the ledger after " + nanos[kills / 2] / 1000 + " us at the median, "
                        + nanos[kills - 1] / 1000 + " at most");
    }

    private static String said(final Process tenant) {
        try (BufferedReader output = tenant.inputReader()) {
            return output.readLine();
        } catch (final IOException e) {
            return e.toString();
        }
    }

    @Test
    void shouldCountWhatTheyHoldAtEveryQuietMoment(final TestReporter reporter)
            throws IOException, InterruptedException {
        final Random random = new Random();
        for (int i = 0; i < SOAKED; i++) {
            tenant(random.nextLong());
        }
        final List<BufferedReader> outputs =
                tenants.stream().map(Process::inputReader).toList();
        final long end = System.nanoTime() + Effort.nanoseconds(SOAK_MILLIS);
        int rounds = 0;
        while (System.nanoTime() < end || rounds == 0) {
            LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(50)));
            step();
            long heldBytes = 0;
            for (final BufferedReader output : outputs) {
                final String line = output.readLine();
                assertTrue(line != null && line.matches("[0-9]+"), line);
                heldBytes += Long.parseLong(line);
            }
            assertEquals(heldBytes, lender.status().lentBytes());
            step();
            rounds++;
        }
        reporter.publishEntry("counted", rounds + " times, " + SOAKED + " clients");
    }

    private void step() throws IOException {
        for (final Process each : tenants) {
            each.getOutputStream().write('\n');
            each.getOutputStream().flush();
        }
    }
}
