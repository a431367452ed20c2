package io.outboard.bench.measure.check;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.FreeBlockVisitor;
import io.outboard.core.HandleStrategy;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** A broken strategy is TLSF with one fault, which shows in some calls, but never in the first hundred. */
final class BrokenStrategy implements HandleStrategy, PartRetiringStrategy {

    private static final int PERIOD = 101;

    private final PartRetiringStrategy strategy;
    private final Fault fault;
    private int calls;
    private long lastAddress;
    private long lastHandle;
    private boolean wasInUse;
    private final BrokenHandles handles;

    private BrokenStrategy(final Strategy tlsf, final Fault fault) {
        strategy = (PartRetiringStrategy) tlsf;
        this.fault = fault;
        handles = new BrokenHandles((HandleStrategy) tlsf, fault, this::shows);
    }

    /** Returns what makes strategies with this fault, under the name of TLSF. */
    static StrategyProvider provider(final Fault fault) {
        final StrategyProvider tlsf = Strategies.named("tlsf");
        return new StrategyProvider() {
            @Override
            public String name() {
                return tlsf.name();
            }

            @Override
            public String description() {
                return fault.name();
            }

            @Override
            public Strategy create(final Region region, final StrategyOptions options) {
                return new BrokenStrategy(tlsf.create(region, options), fault);
            }
        };
    }

    /** Returns whether a call has this fault: one in 101 does. */
    private boolean shows(final Fault wanted) {
        return fault == wanted && ++calls % PERIOD == 0;
    }

    @Override
    public long allocate(final long sizeBytes) {
        return allocate(sizeBytes, 1);
    }

    @Override
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        if (sizeBytes <= 0 && fault == Fault.WRONG_SIZE_TAKEN) {
            return NO_SPACE;
        }
        if (shows(Fault.NO_SPACE_AT_TIMES)) {
            return NO_SPACE;
        }
        if (shows(Fault.FULL_AT_TIMES)) {
            throw new BlockTableFullException(1);
        }
        if (shows(Fault.ENDS_BY_AN_ERROR)) {
            throw new ArrayIndexOutOfBoundsException();
        }
        final long address =
                place(shows(Fault.BLOCK_TOO_LARGE) ? sizeBytes + granuleBytes() : sizeBytes, alignmentBytes);
        if (address == NO_SPACE) {
            return NO_SPACE;
        }
        if (shows(Fault.OVERLAP)) {
            return lastAddress;
        }
        lastAddress = address;
        if (shows(Fault.UNALIGNED)) {
            return address + 1;
        }
        // A block with an alignment might be found for its address alone.
        return alignmentBytes == 1 && shows(Fault.OUTSIDE)
                ? address + (region().sizeBytes() & -granuleBytes())
                : address;
    }

    private long place(final long sizeBytes, final long alignmentBytes) {
        final boolean later = fault == Fault.PLACES_OTHERWISE_LATER && wasInUse && strategy.liveBlocks() == 0;
        final long spacer = later ? strategy.allocate(1) : NO_SPACE;
        final long address = strategy.allocate(sizeBytes, alignmentBytes);
        if (spacer != NO_SPACE) {
            strategy.free(spacer);
        }
        wasInUse |= address != NO_SPACE;
        return address;
    }

    @Override
    public void free(final long address) {
        try {
            strategy.free(address);
            handles.forget(address);
        } catch (final InvalidAddressException e) {
            if (fault == Fault.HELD_BLOCK_FREED_BY_ADDRESS && handles.freeHeldAt(address)) {
                return;
            }
            if (fault == Fault.FREE_TAKES_ALL) {
                return;
            }
            if (fault == Fault.OTHER_ADDRESS_NAMED) {
                throw new InvalidAddressException(address + 1, "");
            }
            if (fault == Fault.WRONG_ADDRESS_FREES) {
                strategy.allocate(1);
            }
            throw e;
        }
    }

    @Override
    public long retire(final long address) {
        final long handle = strategy.retire(address);
        handles.forget(address);
        if (shows(Fault.HANDLE_TOO_LARGE)) {
            return handle | 1L << 48;
        }
        if (shows(Fault.SAME_HANDLE)) {
            return lastHandle;
        }
        lastHandle = handle;
        return handle;
    }

    @Override
    public long release(final long retired) {
        return strategy.release(retired) - (shows(Fault.RELEASE_ANSWERS_LESS) ? granuleBytes() : 0);
    }

    @Override
    public long restore(final long retired) {
        return strategy.restore(retired) - (shows(Fault.RESTORE_ANSWERS_ANOTHER) ? granuleBytes() : 0);
    }

    @Override
    public long retiredBytes(final long retired) {
        return strategy.retiredBytes(retired);
    }

    @Override
    public long retiredAddress(final long retired) {
        return strategy.retiredAddress(retired);
    }

    @Override
    public void trim(final long address, final long newSizeBytes) {
        strategy.trim(address, shows(Fault.TRIM_DOES_NOTHING) ? strategy.sizeOf(address) : newSizeBytes);
    }

    @Override
    public long retireTail(final long address, final long newSizeBytes) {
        return strategy.retireTail(address, newSizeBytes);
    }

    @Override
    public boolean extend(final long address, final long newSizeBytes) {
        if (newSizeBytes > 0 && newSizeBytes < region().sizeBytes() && shows(Fault.EXTEND_REFUSES)) {
            strategy.sizeOf(address);
            return false;
        }
        final long sizeBytes = strategy.sizeOf(address);
        final boolean granted = strategy.extend(address, newSizeBytes);
        if (granted && newSizeBytes > sizeBytes && shows(Fault.EXTEND_DOES_NOTHING)) {
            strategy.trim(address, sizeBytes);
        }
        return granted;
    }

    @Override
    public long sizeOf(final long address) {
        return strategy.sizeOf(address);
    }

    @Override
    public long allocateByHandle(final long sizeBytes) {
        return handles.allocate(sizeBytes);
    }

    @Override
    public void freeByHandle(final long handle) {
        handles.free(handle);
    }

    @Override
    public long retireByHandle(final long handle) {
        return handles.retire(handle);
    }

    @Override
    public long addressOf(final long handle) {
        return handles.addressOf(handle);
    }

    @Override
    public long sizeByHandle(final long handle) {
        return handles.sizeOf(handle);
    }

    @Override
    public long nameByHandle(final long address) {
        return handles.nameByHandle(address);
    }

    @Override
    public long nameByAddress(final long handle) {
        return handles.nameByAddress(handle);
    }

    @Override
    public Region region() {
        return strategy.region();
    }

    @Override
    public long granuleBytes() {
        return strategy.granuleBytes();
    }

    @Override
    public long freeBytes() {
        return strategy.freeBytes() - (shows(Fault.LOST_BYTES) ? granuleBytes() : 0);
    }

    @Override
    public int liveBlocks() {
        return strategy.liveBlocks() - (shows(Fault.LOST_BLOCK) ? 1 : 0);
    }

    @Override
    public long hostBytes() {
        return strategy.hostBytes();
    }

    @Override
    public void forEachBlock(final BlockVisitor visitor) {
        final long end = region().address() + (region().sizeBytes() & -granuleBytes());
        strategy.forEachBlock((address, sizeBytes, free) -> {
            if (free && sizeBytes > granuleBytes() && shows(Fault.UNMERGED)) {
                visitor.visit(address, granuleBytes(), true);
                visitor.visit(address + granuleBytes(), sizeBytes - granuleBytes(), true);
            } else if ((address + sizeBytes < end || !shows(Fault.LAST_BLOCK_HIDDEN))
                    && (address + sizeBytes == end || !shows(Fault.BLOCK_HIDDEN))) {
                visitor.visit(
                        address,
                        sizeBytes,
                        free ? !shows(Fault.FREE_SHOWN_AS_TAKEN) : shows(Fault.TAKEN_SHOWN_AS_FREE));
            }
        });
    }

    @Override
    public void forEachFree(final long leastBytes, final FreeBlockVisitor visitor) {
        if (fault != Fault.NO_FREE_BLOCK) {
            strategy.forEachFree(
                    leastBytes,
                    (block, address, sizeBytes) -> visitor.visit(
                            block, address, sizeBytes + (shows(Fault.FREE_BLOCK_TOO_LONG) ? granuleBytes() : 0)));
        }
    }

    @Override
    public long retireFree(final long block, final long address, final long sizeBytes) {
        // A part that is one granule shorter and starts one granule further on is still in the block.
        final boolean moved = sizeBytes > granuleBytes() && shows(Fault.PART_ELSEWHERE);
        final long skipped = moved ? granuleBytes() : 0;
        return strategy.retireFree(block, address + skipped, sizeBytes - skipped);
    }

    @Override
    public long splitRetired(final long retired, final long sizeBytes) {
        return strategy.splitRetired(retired, sizeBytes);
    }

    @Override
    public void joinRetired(final long retired, final long next) {
        strategy.joinRetired(retired, next);
    }
}
