package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A stepped lender has a clock that a test sets. What it does is told in its own thread, which the test can hold up. */
final class SteppedLender implements AutoCloseable {

    /** The time by the lender's clock, in nanoseconds. */
    final AtomicLong nanos = new AtomicLong();

    final LenderLoop loop;
    final Requests requests;
    private final Thread thread;

    SteppedLender(
            final LenderBuilder builder,
            final Linux linux,
            final Path socket,
            final Duration settling,
            final Consumer<LenderEvent> told)
            throws IOException {
        final AtomicReference<@Nullable LenderLoop> started = new AtomicReference<>();
        final MemoryMakers makers =
                new MemoryMakers(action -> Objects.requireNonNull(started.get()).post(action));
        requests = new Requests(builder, told, makers, linux.user(), settling.toNanos(), nanos::get);
        loop = new LenderLoop(linux, SocketFile.open(linux, socket), null, requests, builder.clients, () -> {});
        started.set(loop);
        thread = new Thread(loop);
        thread.start();
    }

    /** Holds the lender's thread up until the gate is open. */
    void holdUp(final CountDownLatch gate) throws InterruptedException {
        final CountDownLatch isHeldUp = new CountDownLatch(1);
        loop.post(() -> {
            isHeldUp.countDown();
            await(gate);
        });
        isHeldUp.await();
    }

    private static void await(final CountDownLatch latch) {
        try {
            latch.await();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    LenderStatus status() {
        final CompletableFuture<LenderStatus> status = new CompletableFuture<>();
        loop.post(() -> status.complete(requests.status()));
        return status.join();
    }

    void end() {
        loop.end();
        try {
            thread.join();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        end();
    }
}
