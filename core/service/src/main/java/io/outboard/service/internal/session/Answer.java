package io.outboard.service.internal.session;

import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * An answer is what the lender says to one request: one or more messages, and a descriptor that came with the last one.
 */
public class Answer {

    private final CompletableFuture<Answer> whole = new CompletableFuture<>();
    private final List<Message> messages = new ArrayList<>();
    private int descriptor = Linux.NONE;
    private volatile boolean isWhole;

    /** Adds a message. Returns true if it was the last one. Only the thread that reads calls this method. */
    public boolean add(final Message message, final int with) {
        messages.add(message);
        descriptor = with;
        isWhole = message.type() != MessageType.HOLDER;
        return isWhole;
    }

    /** Returns whether the last message is there. */
    public boolean isWhole() {
        return isWhole;
    }

    /** Wakes the threads that wait for the answer, which is complete. */
    public void complete() {
        whole.complete(this);
    }

    /** Wakes the threads that wait: there won't be an answer. */
    public void fail(final LenderGoneException failure) {
        whole.completeExceptionally(failure);
    }

    /**
     * Waits for the answer, even if the thread is interrupted.
     *
     * @throws LenderGoneException if the answer doesn't come within {@code nanos}, or the connection ends first
     */
    public void await(final long nanos) throws LenderGoneException {
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

    /**
     * Returns the exception to throw when the last message refuses a lease of {@code bytes} to a name that may have
     * {@code mostBytes}.
     */
    public DeviceOutOfMemoryException refusalOf(final long bytes, final String name, final long mostBytes) {
        final Message refused = last();
        final Refusal why = Refusal.of(refused.a());
        final StringBuilder reason = new StringBuilder("lender: ").append(why.sentence());
        if (!refused.text().isEmpty()) {
            reason.append(": ").append(refused.text());
        }
        if (why == Refusal.QUOTA) {
            reason.append(": ").append(name).append(" may have ").append(ByteSize.exact(mostBytes));
        }
        final List<Message> holders = messages.subList(0, messages.size() - 1);
        if (!holders.isEmpty()) {
            reason.append("; held by ")
                    .append(holders.stream()
                            .map(holder -> holder.text() + " (pid " + holder.b() + ") " + ByteSize.exact(holder.a()))
                            .collect(Collectors.joining(", ")));
        }
        return DeviceOutOfMemoryException.ofDevice(bytes, refused.b(), refused.c(), reason.toString());
    }

    public Message last() {
        return messages.get(messages.size() - 1);
    }

    public boolean is(final MessageType type) {
        return last().type() == type;
    }

    /** Closes a descriptor that came with another type of answer, and returns this answer. */
    public Answer withoutDescriptorUnless(final MessageType type, final Linux linux) {
        if (isWhole && !is(type)) {
            closeDescriptor(linux);
        }
        return this;
    }

    /** Closes the descriptor that came, as nobody wants it. */
    public void closeDescriptor(final Linux linux) {
        if (descriptor != Linux.NONE) {
            linux.close(descriptor);
        }
    }

    /** Returns the descriptor that came with the last message. */
    public int descriptor() {
        return descriptor;
    }
}
