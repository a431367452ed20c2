package io.outboard.service;

import io.outboard.service.linux.Linux;
import io.outboard.service.wire.Message;
import io.outboard.service.wire.MessageType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What the lender answers to one request: messages, of which the last ends it, and a descriptor that came with that. */
class Answer {

    private final CompletableFuture<Answer> whole = new CompletableFuture<>();
    private final List<Message> messages = new ArrayList<>();
    private int descriptor = Linux.NONE;
    private volatile boolean isWhole;

    /** Called by one thread, that which reads. True if that was the last. */
    boolean add(final Message message, final int with) {
        messages.add(message);
        descriptor = with;
        isWhole = message.type() != MessageType.HOLDER;
        return isWhole;
    }

    /** Whether the last message is there. */
    boolean isWhole() {
        return isWhole;
    }

    /** It is complete: who waits for it goes on. */
    void complete() {
        whole.complete(this);
    }

    /** There won't be any. */
    void fail(final LenderGoneException failure) {
        whole.completeExceptionally(failure);
    }

    /**
     * Waits for it, through interrupts.
     *
     * @throws LenderGoneException if it doesn't come within that time, or the connection ends first
     */
    void await(final long nanos) throws LenderGoneException {
        final long end = System.nanoTime() + nanos;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    whole.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                    return;
                } catch (final InterruptedException e) {
                    interrupted = true;
                } catch (final TimeoutException e) {
                    throw new LenderGoneException(
                            "the lender doesn't answer, after " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms", e);
                } catch (final ExecutionException e) {
                    throw new LenderGoneException(String.valueOf(e.getMessage()), e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** All but the last. */
    List<Message> before() {
        return messages.subList(0, messages.size() - 1);
    }

    Message last() {
        return messages.get(messages.size() - 1);
    }

    boolean is(final MessageType type) {
        return last().type() == type;
    }

    /** What came with the last. */
    int descriptor() {
        return descriptor;
    }
}
