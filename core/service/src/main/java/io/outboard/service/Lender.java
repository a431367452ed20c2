package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A lender lends a device's memory to other processes, in leases. Each lease is physical memory of its own, which the
 * client maps and divides by itself.
 *
 * <p>The lender only keeps a ledger: it maps nothing, and doesn't lend again what comes back. The device hands memory
 * out again once its last mapping is gone. So memory that a kernel of a dead client still writes to can't be lent,
 * without any guess about timing. Leases stay on the ledger as long as their connection lasts; when it ends, however
 * the client ended, they are taken off.
 *
 * <p>{@link Quota}s say who may have how much. Where there is no room, clients that have more than their guarantee are
 * asked to give back.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: one thread, which never waits for a client or the device, a
 * few threads that make memory, and one that tells of events; some hundred bytes of host memory for a lease. JMX shows
 * the lender as {@link LenderMXBean}, and JFR as {@code io.outboard.LenderActivity}. When a lender ends, its clients
 * keep what they have, and state it to the next lender at the same path.
 */
public final class Lender implements AutoCloseable {

    private final Path socket;
    private final LendingDevice device;
    private final boolean isLentByOthers;
    private final LenderEvents events;
    private final LenderManagement management;
    private final Requests requests;
    private final LenderLoop loop;
    private final Thread thread;

    /**
     * Creates a lender, which closes the file and the lock at its end.
     *
     * @throws IOException if Linux has no descriptors left; then the file and the lock stay open
     */
    Lender(
            final LenderBuilder builder,
            final Linux linux,
            final Path socket,
            final SocketFile file,
            final @Nullable DeviceLock lock)
            throws IOException {
        this.socket = socket;
        device = builder.device;
        final long startNanos = System.nanoTime();
        final LongSupplier clock = () -> System.nanoTime() - startNanos;
        final int user = builder.user == Linux.NONE ? linux.user() : builder.user;
        final MemoryMakers makers = new MemoryMakers(this::post);
        management = new LenderManagement(socket, this::status);
        events = new LenderEvents(builder.events);
        final Consumer<LenderEvent> told = event -> {
            management.took(event);
            events.tell(event);
        };
        requests = new Requests(builder, told, makers, user, file.isSuccessor ? builder.settling.toNanos() : 0, clock);
        loop = new LenderLoop(linux, file, lock, requests, builder.clients, management::unregister);
        thread = new Thread(loop, "outboard-lender");
        thread.setDaemon(true);
        isLentByOthers = lock != null && lock.isLentByOthers;
    }

    /** Starts to lend. If that fails, all that was opened is closed, except the device. */
    void start() {
        boolean done = false;
        try {
            requests.tell(LenderEvent.Kind.STARTED, null, device.limitBytes(), device.name() + " at " + socket);
            if (isLentByOthers) {
                requests.tell(LenderEvent.Kind.FAILED, null, 0, "another user's lender has the device, too");
            }
            management.register();
            events.start();
            thread.start();
            done = true;
        } finally {
            if (!done) {
                loop.end();
                loop.run();
                events.end();
            }
        }
    }

    /**
     * Starts to describe a lender.
     *
     * @param device the device whose memory is lent
     * @return a builder with defaults: no quotas, no spares
     */
    public static LenderBuilder of(final LendingDevice device) {
        return new LenderBuilder(device);
    }

    private void post(final Runnable action) {
        loop.post(action);
    }

    /**
     * Returns the file that clients connect to.
     *
     * @return its absolute path
     */
    public Path socket() {
        return socket;
    }

    /**
     * Returns what the ledger says now. Waits for the lender's thread, which answers soon, since it never waits for a
     * client or the device.
     *
     * @return a copy; without clients once the lender has ended
     */
    public LenderStatus status() {
        final CompletableFuture<LenderStatus> status = new CompletableFuture<>();
        post(() -> status.complete(requests.status()));
        return status.join();
    }

    /**
     * Waits until the lender has ended.
     *
     * @throws InterruptedException if the thread is interrupted meanwhile
     */
    public void awaitEnd() throws InterruptedException {
        thread.join();
    }

    /**
     * Ends all connections, and closes the device; clients keep what they hold. Waits up to 5 s for events that aren't
     * taken yet. Idempotent.
     */
    @Override
    public void close() {
        loop.end();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (final InterruptedException e) {
                interrupted = true;
            }
        }
        try {
            device.close();
        } finally {
            events.end();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
