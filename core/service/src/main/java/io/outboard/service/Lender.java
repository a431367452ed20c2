package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Lends a device's memory to other processes, in leases: physical memory of its own each, which the client maps and
 * divides by itself.
 *
 * <p>A ledger and no more: the lender maps nothing, and nothing that comes back is lent again. The device gives memory
 * out once the last mapping of it is gone, so what a kernel of a dead client still writes to can't be lent, and no
 * guess about timing is needed. A connection is all that keeps leases on the ledger: when it ends, however the client
 * ended, they are off it.
 *
 * <p>Who may have how much {@link Quota}s say. Where there is no room, those with more than is guaranteed to them are
 * asked to give back.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: one thread, which waits for nobody, and a few in which memory
 * is made; some hundred bytes of host memory for a lease. It is seen by JMX, as {@link LenderMXBean}, and by JFR, as
 * {@code io.outboard.LenderActivity}. A lender that ends takes nothing from its clients: another one at the same path
 * is told what they hold.
 */
public final class Lender implements AutoCloseable {

    private final Path socket;
    private final LendingDevice device;
    private final Requests requests;
    private final LenderLoop loop;
    private final Thread thread;

    Lender(final LenderBuilder builder, final Linux linux, final Path socket, final SocketFile file)
            throws IOException {
        this.socket = socket;
        device = builder.device;
        final long startNanos = System.nanoTime();
        final LongSupplier clock = () -> System.nanoTime() - startNanos;
        final int user = builder.user == Linux.NONE ? linux.user() : builder.user;
        final MemoryMakers makers = new MemoryMakers(this::post);
        final LenderManagement management = new LenderManagement(socket, this::status);
        final Consumer<LenderEvent> events = event -> {
            management.took(event);
            builder.events.accept(event);
        };
        requests =
                new Requests(builder, events, makers, user, file.isSuccessor ? builder.settling.toNanos() : 0, clock);
        loop = new LenderLoop(linux, file, requests, builder.clients, management::unregister);
        thread = new Thread(loop, "outboard-lender");
        thread.setDaemon(true);
        requests.tell(LenderEvent.Kind.STARTED, null, device.limitBytes(), device.name() + " at " + socket);
        management.register();
        thread.start();
    }

    /**
     * Starts to describe a lender.
     *
     * @param device what it lends
     * @return a builder with defaults: no quotas, no spares
     */
    public static LenderBuilder of(final LendingDevice device) {
        return new LenderBuilder(device);
    }

    private void post(final Runnable action) {
        loop.post(action);
    }

    /**
     * The file that clients connect to.
     *
     * @return its absolute path
     */
    public Path socket() {
        return socket;
    }

    /**
     * What the ledger says now. Waits for the lender's thread, which waits for nobody.
     *
     * @return a copy; when the lender has ended, one without clients
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

    /** Ends all connections, and closes the device; clients keep what they hold. Idempotent. */
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
        device.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
