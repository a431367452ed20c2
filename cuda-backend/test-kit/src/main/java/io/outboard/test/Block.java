package io.outboard.test;

import io.outboard.core.ByteSize;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A block is what the {@link BlockLedger} knows of one that the pool handed out, until its memory has another owner. */
final class Block {
    final long address;
    long sizeBytes;

    /** The most that it ever had: kernels that were launched before it was trimmed may use as much. */
    private long mostBytes;

    /** When it was handed out, and for which point of which stream. */
    final long time;

    final StreamPoint point;
    final CallSite allocatedAt;

    /** When it was freed, and at which point of which stream; only of a block that was freed. */
    long freeTime;

    StreamPoint freePoint = StreamPoint.NONE;

    @Nullable
    CallSite freedAt;

    /**
     * The launches that were given its address, or that of a former owner of its memory, those that have ended left out
     * now and then.
     */
    final List<Launch> users = new ArrayList<>();

    /** The launches of which it is known that they use it too late. */
    final Set<Launch> reported = new HashSet<>();

    Block(
            final long address,
            final long sizeBytes,
            final long time,
            final StreamPoint point,
            final CallSite allocatedAt) {
        this.address = address;
        this.sizeBytes = sizeBytes;
        mostBytes = sizeBytes;
        this.time = time;
        this.point = point;
        this.allocatedAt = allocatedAt;
    }

    long endAddress() {
        return address + sizeBytes;
    }

    /** {@return the end of the memory that it has now, or had before it was trimmed} */
    long mostEndAddress() {
        return address + mostBytes;
    }

    void resize(final long newSizeBytes) {
        sizeBytes = newSizeBytes;
        mostBytes = Math.max(mostBytes, newSizeBytes);
    }

    /** {@return this block as it was, with all its size, for the tail that is freed now} Who uses it isn't known. */
    Block asFreed(final long newFreeTime, final CallSite newFreedAt) {
        final Block former = new Block(address, sizeBytes, time, point, allocatedAt);
        former.freeTime = newFreeTime;
        former.freedAt = newFreedAt;
        return former;
    }

    /** {@return the lines of a message that say where it comes from} */
    String lines() {
        return allocatedAt.lines("allocated") + (freedAt == null ? "" : freedAt.lines("freed"));
    }

    /** {@return for example {@code block [0x10000000000, 1KiB]}} */
    @Override
    public String toString() {
        return "block [0x" + Long.toHexString(address) + ", " + ByteSize.exact(sizeBytes) + "]";
    }
}
