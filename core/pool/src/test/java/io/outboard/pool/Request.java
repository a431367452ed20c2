package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/** A request asks for memory on a thread of its own. */
final class Request {

    private static final long SECONDS = 20;

    private final FutureTask<Long> task;
    private final Thread thread;

    private Request(final LongSupplier allocation) {
        task = new FutureTask<>(allocation::getAsLong);
        thread = new Thread(task, "request");
        thread.setDaemon(true);
        thread.start();
    }

    static Request start(final LongSupplier allocation) {
        return new Request(allocation);
    }

    /** Starts a request that can't be served now, and waits until it waits. */
    static Request startWaiting(final LongSupplier allocation) {
        final Request request = new Request(allocation);
        request.awaitWaiting();
        return request;
    }

    /** Waits until the request waits, for anything, and goes on waiting for a moment. */
    void awaitWaiting() {
        final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        int seen = 0;
        while (seen < 1000) {
            assertFalse(task.isDone(), this::outcome);
            assertTrue(System.nanoTime() < end, () -> "it doesn't wait but is " + thread.getState());
            final Thread.State state = thread.getState();
            seen = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING ? seen + 1 : 0;
            Thread.onSpinWait();
        }
    }

    /** Waits until the request's thread is no longer in a method with this name, where the thread may wait, too. */
    void awaitReturnFrom(final String method) {
        final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method))) {
            assertTrue(System.nanoTime() < end, () -> "it stays in " + method);
            Thread.onSpinWait();
        }
    }

    private String outcome() {
        try {
            return "it waits no longer, but was served with " + task.get();
        } catch (final ExecutionException | InterruptedException e) {
            return "it waits no longer, but was refused: " + e.getCause();
        }
    }

    boolean isDone() {
        return task.isDone();
    }

    Thread thread() {
        return thread;
    }

    /** Returns the address that the request got. */
    long get() throws InterruptedException, TimeoutException {
        try {
            return task.get(SECONDS, TimeUnit.SECONDS);
        } catch (final ExecutionException e) {
            throw new AssertionError("refused", e.getCause());
        }
    }

    /** Returns what the request was refused with. */
    Throwable thrown() throws InterruptedException, TimeoutException {
        try {
            throw new AssertionError("served with " + task.get(SECONDS, TimeUnit.SECONDS));
        } catch (final ExecutionException e) {
            return Objects.requireNonNull(e.getCause());
        }
    }

    void assertServedWith(final long address) throws InterruptedException, TimeoutException {
        assertEquals(address, get());
    }
}
