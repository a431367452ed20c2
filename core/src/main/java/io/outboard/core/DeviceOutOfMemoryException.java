package io.outboard.core;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * This exception says that device memory is exhausted, with what a person needs to tell <em>full</em> from
 * <em>fragmented</em>.
 *
 * <p>Strategies don't throw the exception, since they return {@link Strategy#NO_SPACE}. Those who hold strategies and
 * regions throw it.
 */
public final class DeviceOutOfMemoryException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The size that the strategy or pool was asked for, in bytes. */
    private final long requestedBytes;

    /** Free bytes of all regions. */
    private final long freeBytes;

    /** The reason why there was no memory. */
    private final String reason;

    /**
     * The message has the numbers of the moment when the exception was made. It is written when it is read, since most
     * programs that catch the exception don't read it.
     */
    private final transient Supplier<String> message;

    /** The part of the message that only a look at all blocks tells. */
    private final transient LongSupplier largestFreeBlock;

    private final transient Supplier<String> holders;

    /** The size of the largest free block, in bytes; negative until somebody asks for it. */
    private long largestFreeBlockBytes = -1;

    /** The whole message; null until somebody asks for it. */
    private @Nullable String diagnosis;

    private DeviceOutOfMemoryException(
            final Supplier<String> message,
            final long requestedBytes,
            final long freeBytes,
            final String reason,
            final LongSupplier largestFreeBlock,
            final Supplier<String> holders,
            final @Nullable Throwable cause) {
        super(null, cause);
        this.message = message;
        this.requestedBytes = requestedBytes;
        this.freeBytes = freeBytes;
        this.reason = reason;
        this.largestFreeBlock = largestFreeBlock;
        this.holders = holders;
    }

    private static DeviceOutOfMemoryException of(
            final Supplier<String> message,
            final long requestedBytes,
            final long freeBytes,
            final long largestFreeBlockBytes,
            final String reason) {
        return new DeviceOutOfMemoryException(
                message, requestedBytes, freeBytes, reason, () -> largestFreeBlockBytes, () -> "", null);
    }

    /**
     * Says that the device itself has no more.
     *
     * @param requestedBytes what was asked for, in bytes
     * @param freeBytes what the device reports as free, in bytes
     * @param totalBytes what the device has, in bytes
     * @param reason the call that failed and the driver's own name and code for why, such as {@code cuMemCreate:
     *     CUDA_ERROR_OUT_OF_MEMORY (2)}
     * @return the exception, not thrown
     */
    public static DeviceOutOfMemoryException ofDevice(
            final long requestedBytes, final long freeBytes, final long totalBytes, final String reason) {
        return of(
                () -> "device out of memory: requested " + ByteSize.exact(requestedBytes) + ", free "
                        + ByteSize.exact(freeBytes) + " of " + ByteSize.exact(totalBytes) + " (" + reason + ")",
                requestedBytes,
                freeBytes,
                freeBytes,
                reason);
    }

    /**
     * Says that the device itself has no more, where what it has in all isn't known.
     *
     * @param requestedBytes what was asked for, in bytes
     * @param freeBytes what the device reports as free, in bytes
     * @param reason the call that said so, and what it said
     * @return the exception, not thrown
     */
    public static DeviceOutOfMemoryException ofDevice(
            final long requestedBytes, final long freeBytes, final String reason) {
        return of(
                () -> "device out of memory: requested " + ByteSize.exact(requestedBytes) + ", free "
                        + ByteSize.exact(freeBytes) + " (" + reason + ")",
                requestedBytes,
                freeBytes,
                freeBytes,
                reason);
    }

    /**
     * Says that a strategy found nothing that fits.
     *
     * @param requestedBytes what was asked for, in bytes
     * @param statistics the state of the strategy's region
     * @return the exception, not thrown
     */
    public static DeviceOutOfMemoryException ofStrategy(final long requestedBytes, final Statistics statistics) {
        final boolean fragmented = statistics.freeBytes() >= requestedBytes;
        final String reason = fragmented ? "fragmented" : "full";
        return of(
                () -> "region " + reason + ": requested " + ByteSize.exact(requestedBytes) + "; " + statistics,
                requestedBytes,
                statistics.freeBytes(),
                statistics.largestFreeBlockBytes(),
                reason);
    }

    /**
     * Says that a pool found nothing that fits, and could neither recycle nor grow. What needs a look at all blocks is
     * found out when {@link #getMessage} or {@link #largestFreeBlockBytes} asks for it, and tells the state at that
     * time.
     *
     * @param pool the pool's name, such as {@code pool gpu0}
     * @param requestedBytes what was asked for, in bytes
     * @param freeBytes what the pool has free, in bytes
     * @param largestFreeBlock finds the size of its largest free block, in bytes
     * @param state tells the pool's state by now as a person reads it, on one line
     * @param holders finds its largest blocks in use, likewise
     * @param refusal what the device said since the request came, perhaps to another one; the message has its reason,
     *     and it is the cause; null if the device refused nothing
     * @return the exception, not thrown
     */
    public static DeviceOutOfMemoryException ofPool(
            final String pool,
            final long requestedBytes,
            final long freeBytes,
            final LongSupplier largestFreeBlock,
            final Supplier<String> state,
            final Supplier<String> holders,
            final @Nullable DeviceOutOfMemoryException refusal) {
        final String reason = freeBytes >= requestedBytes ? "fragmented" : "full";
        return new DeviceOutOfMemoryException(
                () -> pool + " " + reason + ": requested " + ByteSize.exact(requestedBytes)
                        + (refusal == null ? "" : ", refused (" + refusal.reason() + ")") + "; " + state.get(),
                requestedBytes,
                freeBytes,
                reason,
                largestFreeBlock,
                holders,
                refusal);
    }

    /**
     * Tells everything that is known, on one line. For a pool the first call finds it out: O(blocks).
     *
     * @return the message
     */
    @Override
    public String getMessage() {
        return diagnose();
    }

    /**
     * Finds out what {@link #getMessage} says, before its source ends.
     *
     * @return the message
     */
    public synchronized String diagnose() {
        if (diagnosis == null) {
            final String largestHolders = holders.get();
            diagnosis = largestHolders.isEmpty() ? message.get() : message.get() + ofBlocks() + largestHolders;
        }
        return diagnosis;
    }

    private String ofBlocks() {
        final long largestBytes = largestFreeBlockBytes();
        final double fragmentation = freeBytes <= largestBytes ? 0 : 1 - (double) largestBytes / freeBytes;
        return ", largest free block " + ByteSize.exact(largestBytes) + ", external fragmentation "
                + Math.round(1000 * fragmentation) / 1000.0 + "; largest holders ";
    }

    /**
     * Tells what was asked for.
     *
     * @return bytes
     */
    public long requestedBytes() {
        return requestedBytes;
    }

    /**
     * Tells what was free, in all.
     *
     * @return bytes; less than {@link #requestedBytes} means full
     */
    public long freeBytes() {
        return freeBytes;
    }

    /**
     * Tells the largest free block, or all that is free where the driver doesn't say.
     *
     * @return bytes; less than {@link #requestedBytes} while {@link #freeBytes} isn't means fragmented
     */
    public synchronized long largestFreeBlockBytes() {
        if (largestFreeBlockBytes < 0) {
            largestFreeBlockBytes = largestFreeBlock.getAsLong();
        }
        return largestFreeBlockBytes;
    }

    /**
     * Tells the reason, in a word or the driver's words.
     *
     * @return {@code full}, {@code fragmented}, or what the driver said
     */
    public String reason() {
        return reason;
    }

    /**
     * Writes all that is known, since the other end can't ask.
     *
     * @param out where to
     * @throws IOException if that can't be written to
     */
    private void writeObject(final ObjectOutputStream out) throws IOException {
        diagnose();
        largestFreeBlockBytes();
        out.defaultWriteObject();
    }
}
