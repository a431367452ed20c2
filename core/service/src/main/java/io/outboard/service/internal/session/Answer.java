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
 * What the lender answers to one request: messages, of which the last ends it, and a descriptor that came with that.
 */
public class Answer {

    private final CompletableFuture<Answer> whole = new CompletableFuture<>();
    private final List<Message> messages = new ArrayList<>();
    private int descriptor = Linux.NONE;
    private volatile boolean isWhole;

    /** Called by one thread, that which reads. True if that was the last. */
    public boolean add(final Message message, final int with) {
        messages.add(message);
        descriptor = with;
        isWhole = message.type() != MessageType.HOLDER;
        return isWhole;
    }

    /** Whether the last message is there. */
    public boolean isWhole() {
        return isWhole;
    }

    /** It is complete: who waits for it goes on. */
    public void complete() {
        whole.complete(this);
    }

    /** There won't be any. */
    public void fail(final LenderGoneException failure) {
        whole.completeExceptionally(failure);
    }

    /**
     * Waits for it, through interrupts.
     *
     * @throws LenderGoneException if it doesn't come within that time, or the connection ends first
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

    /** What to throw where the last one refuses a lease of that size to a name that may have so much. */
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

    /** This, of which a descriptor that came with another type of answer is closed. */
    public Answer withoutDescriptorUnless(final MessageType type, final Linux linux) {
        if (isWhole && !is(type)) {
            closeDescriptor(linux);
        }
        return this;
    }

    /** What came isn't wanted. */
    public void closeDescriptor(final Linux linux) {
        if (descriptor != Linux.NONE) {
            linux.close(descriptor);
        }
    }

    /** What came with the last. */
    public int descriptor() {
        return descriptor;
    }
}
