package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.FakeLender.Line;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Leases go back while one lender after the other ends. Each lender only hears of leases that it knows. */
@Timeout(60)
class ReturnRaceTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final int LINES = 20;
    private static final int THREADS = 6;

    @TempDir
    Path folder;

    private final AtomicLong lastLease = new AtomicLong();
    private final Map<Line, Set<Long>> known = new ConcurrentHashMap<>();
    private final List<String> wrong = new CopyOnWriteArrayList<>();
    private volatile boolean ended;
    private int file;

    @BeforeEach
    void start() {
        Jvm.assumeLeases();
    }

    private void heard(final Line line, final Message message) throws IOException {
        final Set<Long> leases = known.computeIfAbsent(line, each -> new HashSet<>());
        switch (message.type()) {
            case HELD -> leases.add(message.a());
            case LEASE -> {
                final long lease = lastLease.incrementAndGet();
                leases.add(lease);
                line.say(Message.of(MessageType.LEASED, message.request(), lease, message.a()), file);
            }
            case RETURN -> {
                if (!leases.remove(message.a())) {
                    wrong.add("lease " + message.a() + " went to a lender that doesn't know it");
                }
                line.say(Message.of(MessageType.RETURNED, message.request(), message.a()));
            }
            default -> {
                // Other messages don't matter here.
            }
        }
    }

    private void leaseAndGiveBack(final LenderConnection connection) {
        while (!ended) {
            try {
                final Lease lease = connection.lease(UNIT);
                connection.closeDescriptor(lease);
                connection.giveBack(lease.number());
            } catch (final DeviceOutOfMemoryException e) {
                assertTrue(e.reason().contains("lender gone"), e::reason);
            }
        }
    }

    @Test
    void shouldGiveBackToALenderThatKnowsTheLease() throws Exception {
        final Linux linux = LinuxCalls.find();
        file = linux.event();
        final Path socket = folder.resolve("lender");
        try (FakeLender lender = new FakeLender(socket, this::heard);
                LenderConnection connection = LenderConnection.connect(socket, "a")) {
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(new Thread(() -> leaseAndGiveBack(connection)));
            }
            threads.forEach(Thread::start);
            for (int i = 1; i < LINES; i++) {
                final int count = i;
                Await.until(() -> lender.lines().size() > count - 1, lender::lines);
                LockSupport.parkNanos(20_000_000);
                lender.lines().get(count - 1).end();
            }
            ended = true;
            for (final Thread thread : threads) {
                thread.join();
            }
        } finally {
            linux.close(file);
        }
        assertEquals(List.of(), wrong.stream().limit(3).toList());
    }
}
