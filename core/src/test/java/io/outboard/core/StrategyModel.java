package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The model of a strategy is a plain map from address to size of its live blocks, which are in use or retired. All
 * memory between them must be free, and each gap one free block. So the map alone says what a walk must show.
 */
final class StrategyModel {

    /** The number of free blocks up to which a strategy must find one that fits. With more, it may bound its search. */
    private static final int SEARCHED_BLOCKS = 64;

    private final Strategy strategy;
    private final LongBinaryOperator blockBytes;
    private final boolean coalesces;
    private final boolean searches;
    private final boolean mayTakeLarger;
    private final long granuleBytes;
    private final long regionAddress;
    private final long wholeBytes;
    private final List<Block> blocksAtFirst;

    /** The strategy, if it has handles; otherwise addresses name its blocks. */
    private final @Nullable HandleStrategy byHandle;

    /** The strategy, if it can retire parts of blocks. */
    private final @Nullable PartRetiringStrategy parts;

    private final TreeMap<Long, Long> live = new TreeMap<>();

    /** The blocks in use that a handle names: their handles, by address. */
    private final TreeMap<Long, Long> handles = new TreeMap<>();

    /** All handles that have ever been returned. */
    private final List<Long> everyHandle = new ArrayList<>();

    /** The retired blocks: their names, by address. */
    private final TreeMap<Long, Long> retired = new TreeMap<>();

    /**
     * Makes a model of a strategy in which nothing is in use.
     *
     * @param strategy the strategy to compare with
     * @param blockBytes the size of the block that serves a request, from the requested size and the granule
     * @param coalesces whether any two free neighbours merge
     * @param searches whether a request is granted wherever it fits, as {@link StrategyFixture#searches}
     * @param mayTakeLarger whether a block may be of the next size, as {@link StrategyFixture#mayTakeLarger}
     */
    StrategyModel(
            final Strategy strategy,
            final LongBinaryOperator blockBytes,
            final boolean coalesces,
            final boolean searches,
            final boolean mayTakeLarger) {
        this.strategy = strategy;
        this.blockBytes = blockBytes;
        this.coalesces = coalesces;
        this.searches = searches;
        this.mayTakeLarger = mayTakeLarger;
        granuleBytes = strategy.granuleBytes();
        regionAddress = strategy.region().address();
        wholeBytes = strategy.region().sizeBytes() & -granuleBytes;
        blocksAtFirst = Block.of(strategy);
        byHandle = strategy instanceof HandleStrategy handles ? handles : null;
        parts = strategy instanceof PartRetiringStrategy partwise ? partwise : null;
    }

    void apply(final Operation operation) {
        switch (operation.kind()) {
            case ALLOCATE -> allocate(operation.sizeBytes(wholeBytes, granuleBytes), 1, false);
            case ALLOCATE_ALIGNED ->
                allocate(operation.sizeBytes(wholeBytes, granuleBytes), operation.alignmentBytes(granuleBytes), true);
            case ALLOCATE_BY_HANDLE -> {
                if (byHandle == null) {
                    allocate(operation.sizeBytes(wholeBytes, granuleBytes), 1, false);
                } else {
                    allocateByHandle(byHandle, operation.sizeBytes(wholeBytes, granuleBytes));
                }
            }
            case NAME -> {
                if (byHandle != null && anyInUse()) {
                    nameOtherwise(byHandle, addressInUse(operation.pick()));
                }
            }
            case FREE -> free(operation.pick());
            case TRIM -> trim(operation);
            case EXTEND -> extend(operation);
            case RETIRE -> retire(operation.pick());
            case RELEASE -> release(operation.pick());
            case RESTORE -> restore(operation.pick());
            case RETIRE_FREE -> retireFree(operation);
            case WRONG_ADDRESS -> callWithWrongAddress(operation);
            case WRONG_HANDLE -> {
                if (byHandle != null) {
                    callWithWrongHandle(byHandle, operation);
                }
            }
            case WRONG_SIZE -> callWithWrongSize(operation);
        }
    }

    void freeAll() {
        for (int pick = 0; !live.isEmpty(); pick += 7) {
            if (retired.isEmpty() || (anyInUse() && pick % 2 == 0)) {
                free(pick);
            } else {
                release(pick);
            }
            check();
        }
        assertEquals(blocksAtFirst, Block.of(strategy), "blocks after the last free");
        if (blocksAtFirst.size() == 1
                && blockBytes(wholeBytes) == wholeBytes
                && (searches || Long.bitCount(wholeBytes / granuleBytes) == 1)) {
            assertEquals(regionAddress, strategy.allocate(wholeBytes), "address of the whole region");
            strategy.free(regionAddress);
            check();
        }
    }

    /** Compares all that the strategy shows with what the map says. */
    void check() {
        final List<Block> expected = expectedBlocks();
        final List<Block> blocks = Block.of(strategy);
        assertEquals(expected, coalesces ? blocks : Block.merged(blocks), "blocks");
        final long freeBytes =
                wholeBytes - live.values().stream().mapToLong(Long::longValue).sum();
        final long largestBytes = expected.stream()
                .filter(Block::free)
                .mapToLong(Block::sizeBytes)
                .max()
                .orElse(0);
        assertEquals(freeBytes, strategy.freeBytes(), "freeBytes");
        final long largestShown = Statistics.of(strategy).largestFreeBlockBytes();
        assertTrue(coalesces ? largestShown == largestBytes : largestShown <= largestBytes, "largestFreeBlockBytes");
        assertEquals(live.size(), strategy.liveBlocks(), "liveBlocks");
        handles.forEach((address, handle) -> {
            assertEquals(address, withHandles().addressOf(handle), "addressOf");
            assertEquals(live.get(address), withHandles().sizeByHandle(handle), "sizeByHandle");
        });
        retired.forEach((address, handle) -> {
            assertEquals(address, strategy.retiredAddress(handle), "retiredAddress");
            assertEquals(live.get(address), strategy.retiredBytes(handle), "retiredBytes");
        });
    }

    private List<Block> expectedBlocks() {
        final List<Block> blocks = new ArrayList<>();
        long end = regionAddress;
        for (final Map.Entry<Long, Long> block : live.entrySet()) {
            if (block.getKey() != end) {
                blocks.add(Block.free(end, block.getKey() - end));
            }
            blocks.add(Block.used(block.getKey(), block.getValue()));
            end = block.getKey() + block.getValue();
        }
        if (end != regionAddress + wholeBytes) {
            blocks.add(Block.free(end, regionAddress + wholeBytes - end));
        }
        return blocks;
    }

    private void allocate(final long sizeBytes, final long alignmentBytes, final boolean aligned) {
        final long largestBytes = Statistics.of(strategy).largestFreeBlockBytes();
        final long address = aligned ? strategy.allocate(sizeBytes, alignmentBytes) : strategy.allocate(sizeBytes);
        if (checkPlace(address, sizeBytes, alignmentBytes, aligned, largestBytes)) {
            live.put(address, checkedBytes(strategy.sizeOf(address), sizeBytes));
        }
    }

    /** Checks and returns the size of a new block. */
    private long checkedBytes(final long actualBytes, final long sizeBytes) {
        final long roundedBytes = blockBytes(sizeBytes);
        if (!mayTakeLarger || actualBytes != blockBytes(roundedBytes + 1)) {
            assertEquals(roundedBytes, actualBytes, "size");
        }
        return actualBytes;
    }

    /** Returns the strategy as one with handles, which it is, since a handle names one of its blocks. */
    private HandleStrategy withHandles() {
        return Objects.requireNonNull(byHandle);
    }

    private void allocateByHandle(final HandleStrategy handled, final long sizeBytes) {
        final long largestBytes = Statistics.of(strategy).largestFreeBlockBytes();
        final long handle = handled.allocateByHandle(sizeBytes);
        final long address = handle == Strategy.NO_SPACE ? Strategy.NO_SPACE : handled.addressOf(handle);
        if (checkPlace(address, sizeBytes, 1, false, largestBytes)) {
            live.put(address, checkedBytes(handled.sizeByHandle(handle), sizeBytes));
            named(address, handle);
        }
    }

    private void named(final long address, final long handle) {
        assertTrue(handle >= 0, () -> "handle=" + handle);
        assertFalse(handles.containsValue(handle), () -> "handle=" + handle + " names another block");
        handles.put(address, handle);
        everyHandle.add(handle);
    }

    private void nameOtherwise(final HandleStrategy handled, final long address) {
        final Long handle = handles.remove(address);
        if (handle == null) {
            named(address, handled.nameByHandle(address));
        } else {
            assertEquals(address, handled.nameByAddress(handle), "nameByAddress");
        }
    }

    /** Makes a call that takes nothing but an address. */
    private void withAddress(final long address, final LongConsumer call) {
        final Long handle = handles.get(address);
        if (handle == null) {
            call.accept(address);
            return;
        }
        withHandles().nameByAddress(handle);
        call.accept(address);
        assertEquals(handle, withHandles().nameByHandle(address), "the handle, after a change of size");
    }

    private long sizeOf(final long address) {
        final Long handle = handles.get(address);
        return handle == null ? strategy.sizeOf(address) : withHandles().sizeByHandle(handle);
    }

    /** Checks where a block was placed, and tells whether there was space. */
    private boolean checkPlace(
            final long address,
            final long sizeBytes,
            final long alignmentBytes,
            final boolean aligned,
            final long largestBytes) {
        final long roundedBytes = blockBytes(sizeBytes);
        final List<Block> free = expectedBlocks().stream().filter(Block::free).toList();
        final List<Block> fitting = free.stream()
                .filter(block -> fits(block, roundedBytes, alignmentBytes))
                .toList();
        if (address == Strategy.NO_SPACE) {
            final boolean mayRefuse = coalesces
                    ? searches ? fitting.isEmpty() : !isSure(free, roundedBytes, alignmentBytes)
                    : aligned || roundedBytes > largestBytes;
            assertTrue(mayRefuse || free.size() > SEARCHED_BLOCKS, () -> "no space, though it fits " + fitting);
            return false;
        }
        assertEquals(0, address & (granuleBytes - 1), "bits of the address below the granule");
        assertEquals(0, address & (alignmentBytes - 1), "bits of the address below the alignment");
        assertTrue(
                fitting.stream()
                        .anyMatch(block -> address >= block.address()
                                && address + roundedBytes <= block.address() + block.sizeBytes()),
                () -> "0x" + Long.toHexString(address) + " lies in none of the free blocks " + fitting);
        return true;
    }

    /** Tells whether a free block has, rounded down to a power of two, room for a range and the worst padding. */
    private boolean isSure(final List<Block> free, final long sizeBytes, final long alignmentBytes) {
        final long granules = (sizeBytes + Math.max(alignmentBytes, granuleBytes)) / granuleBytes - 1;
        return free.stream().anyMatch(block -> Long.highestOneBit(block.sizeBytes() / granuleBytes) >= granules);
    }

    private static boolean fits(final Block block, final long sizeBytes, final long alignmentBytes) {
        final long paddingBytes = -block.address() & (alignmentBytes - 1);
        return block.free() && paddingBytes < block.sizeBytes() && sizeBytes <= block.sizeBytes() - paddingBytes;
    }

    private void free(final int pick) {
        if (anyInUse()) {
            final long address = addressInUse(pick);
            final Long named = handles.remove(address);
            if (named == null) {
                strategy.free(address);
            } else {
                withHandles().freeByHandle(named);
            }
            live.remove(address);
        }
    }

    private void retire(final int pick) {
        if (anyInUse()) {
            final long address = addressInUse(pick);
            final Long named = handles.remove(address);
            final long handle =
                    named == null ? strategy.retire(address) : withHandles().retireByHandle(named);
            assertTrue(handle >= 0 && handle < 1L << 48, () -> "handle=" + handle);
            assertFalse(retired.containsValue(handle), () -> "handle=" + handle + " names another block");
            retired.put(address, handle);
        }
    }

    private void release(final int pick) {
        if (!retired.isEmpty()) {
            final long address = retiredAddress(pick);
            assertEquals(live.get(address), strategy.release(handleOf(address)), "release");
            retired.remove(address);
            live.remove(address);
        }
    }

    private void restore(final int pick) {
        if (!retired.isEmpty()) {
            final long address = retiredAddress(pick);
            assertEquals(address, strategy.restore(handleOf(address)), "restore");
            retired.remove(address);
            assertEquals(live.get(address), strategy.sizeOf(address), "sizeOf");
        }
    }

    /** Retires a part of a large free block; then the part is divided, and becomes one block again. */
    private void retireFree(final Operation operation) {
        final long leastBytes = (operation.slack() % 4 + 1) * granuleBytes;
        final List<Block> free = expectedBlocks().stream()
                .filter(block -> block.free() && block.sizeBytes() >= leastBytes)
                .toList();
        if (parts == null) {
            return;
        }
        final List<Block> shown = new ArrayList<>();
        final List<Long> names = new ArrayList<>();
        parts.forEachFree(leastBytes, (block, address, sizeBytes) -> {
            shown.add(new Block(address, sizeBytes, true));
            names.add(block);
        });
        if (coalesces) {
            assertEquals(Set.copyOf(free), Set.copyOf(shown), "large free blocks");
        }
        if (shown.isEmpty()) {
            return;
        }
        final int pick = operation.pick() % shown.size();
        final Block some = shown.get(pick);
        final long granules = some.sizeBytes() / granuleBytes;
        final long skipped = operation.sizeFraction() % granules;
        final long taken = 1 + operation.slack() % (granules - skipped);
        final long address = some.address() + skipped * granuleBytes;

        final long handle = parts.retireFree(names.get(pick), address, taken * granuleBytes);

        if (handle == Strategy.NO_SPACE) {
            return;
        }
        assertEquals(address, strategy.retiredAddress(handle));
        assertEquals(taken * granuleBytes, strategy.retiredBytes(handle));
        assertFalse(retired.containsValue(handle), () -> "handle=" + handle + " names another block");
        live.put(address, taken * granuleBytes);
        retired.put(address, handle);
        if (taken > 1) {
            divide(
                    parts,
                    address,
                    handle,
                    (1 + operation.pick() % (taken - 1)) * granuleBytes,
                    operation.slack() % 2 == 0);
        }
    }

    private void divide(
            final PartRetiringStrategy parts,
            final long address,
            final long handle,
            final long keptBytes,
            final boolean join) {
        final long wholeBytesThere = strategy.retiredBytes(handle);
        final long rest = parts.splitRetired(handle, keptBytes);
        if (rest == Strategy.NO_SPACE) {
            return;
        }
        assertEquals(keptBytes, strategy.retiredBytes(handle));
        assertEquals(address + keptBytes, strategy.retiredAddress(rest));
        assertEquals(wholeBytesThere - keptBytes, strategy.retiredBytes(rest));
        live.put(address, keptBytes);
        live.put(address + keptBytes, wholeBytesThere - keptBytes);
        retired.put(address + keptBytes, rest);
        if (join) {
            check();
            parts.joinRetired(handle, rest);
            assertEquals(wholeBytesThere, strategy.retiredBytes(handle));
            live.remove(address + keptBytes);
            retired.remove(address + keptBytes);
            live.put(address, wholeBytesThere);
        }
    }

    private void trim(final Operation operation) {
        if (anyInUse()) {
            final long address = addressInUse(operation.pick());
            final long sizeBytes = sizeOf(address);
            final long newSizeBytes = 1 + (operation.sizeBytes(sizeBytes, granuleBytes) - 1) % sizeBytes;
            withAddress(address, named -> strategy.trim(named, newSizeBytes));
            changeSize(address, newSizeBytes, sizeBytes);
        }
    }

    private void extend(final Operation operation) {
        if (anyInUse()) {
            final long address = addressInUse(operation.pick());
            final long sizeBytes = sizeOf(address);
            final long end = address + sizeBytes;
            final Long next = live.ceilingKey(end);
            final long roomBytes = (next == null ? regionAddress + wholeBytes : next) - end;
            final long moreBytes =
                    operation.slack() % 4 == 0 ? roomBytes : operation.sizeBytes(roomBytes, granuleBytes);
            final long newSizeBytes = sizeBytes + moreBytes;
            final boolean[] answer = new boolean[1];
            withAddress(address, named -> answer[0] = strategy.extend(named, newSizeBytes));
            final boolean granted = answer[0];
            if (granted || coalesces) {
                assertEquals(
                        blockBytes(newSizeBytes) <= sizeBytes + roomBytes,
                        granted,
                        () -> "extend by " + moreBytes + " into " + roomBytes);
            }
            if (granted) {
                changeSize(address, newSizeBytes, Long.MAX_VALUE);
            }
        }
    }

    /**
     * Records a block's new size. A strategy that keeps free neighbours apart may be unable to give back what a trim
     * cuts off.
     */
    private void changeSize(final long address, final long newSizeBytes, final long mostBytes) {
        final long sizeBytes = sizeOf(address);
        if (coalesces) {
            assertEquals(blockBytes(newSizeBytes), sizeBytes, "sizeOf");
        } else {
            assertTrue(sizeBytes >= newSizeBytes && sizeBytes <= mostBytes, "sizeOf");
        }
        live.put(address, sizeBytes);
    }

    private void callWithWrongAddress(final Operation operation) {
        final List<Block> blocks = expectedBlocks();
        final Block block = blocks.get(operation.pick() % blocks.size());
        final long offsetBytes = (operation.slack() * 0x9E3779B97F4AL) % block.sizeBytes();
        final long[] wrong = {
            (retired.containsKey(block.address()) || handles.containsKey(block.address())) && operation.pick() % 2 == 0
                    ? block.address()
                    : block.address() + (block.free() ? offsetBytes & -granuleBytes : Math.max(1, offsetBytes)),
            regionAddress + wholeBytes,
            regionAddress - granuleBytes,
            block.address() + (granuleBytes << 32),
            block.address() - (granuleBytes << 32),
            Strategy.NO_SPACE
        };
        final long address = wrong[operation.slack() % wrong.length];
        if (names(address)) {
            return;
        }
        final List<LongConsumer> calls = List.of(
                strategy::free,
                wrongAddress -> strategy.trim(wrongAddress, 1),
                wrongAddress -> strategy.extend(wrongAddress, Long.MAX_VALUE),
                strategy::retire,
                strategy::sizeOf);
        for (final LongConsumer call : calls) {
            assertThrows(InvalidAddressException.class, () -> call.accept(address));
        }
    }

    /**
     * Tells whether an address names a block in use. A block that has a handle isn't named by its address.
     */
    private boolean names(final long address) {
        return live.containsKey(address) && !retired.containsKey(address) && !handles.containsKey(address);
    }

    /**
     * Calls with a wrong handle: an old one, perhaps with some bits changed, or a made-up one with a block's place and
     * any record.
     */
    private void callWithWrongHandle(final HandleStrategy handled, final Operation operation) {
        final List<Block> blocks = expectedBlocks();
        final long granule = (blocks.get(operation.pick() % blocks.size()).address() - regionAddress) / granuleBytes;
        final long madeUp = (long) operation.sizeFraction() << 32 | granule;
        final long old = everyHandle.isEmpty() ? madeUp : everyHandle.get(operation.pick() % everyHandle.size());
        final long[] wrong = {madeUp, old, old, old ^ 1L << operation.slack() % Long.SIZE, ~old};
        final long handle = wrong[operation.slack() / Long.SIZE % wrong.length];
        if (handles.containsValue(handle)) {
            return;
        }
        final List<LongConsumer> calls = List.of(
                handled::freeByHandle,
                handled::retireByHandle,
                handled::addressOf,
                handled::sizeByHandle,
                handled::nameByAddress);
        for (final LongConsumer call : calls) {
            assertThrows(InvalidAddressException.class, () -> call.accept(handle));
        }
    }

    private void callWithWrongSize(final Operation operation) {
        assertThrows(IllegalArgumentException.class, () -> strategy.allocate(-operation.slack()));
        if (byHandle != null) {
            assertThrows(IllegalArgumentException.class, () -> byHandle.allocateByHandle(-operation.slack()));
        }
        assertThrows(IllegalArgumentException.class, () -> strategy.allocate(granuleBytes, 3L * granuleBytes));
        if (anyInUse()) {
            final long address = addressInUse(operation.pick());
            final long sizeBytes = sizeOf(address);
            assertThrows(IllegalArgumentException.class, () -> strategy.trim(address, sizeBytes + 1));
            assertThrows(IllegalArgumentException.class, () -> strategy.trim(address, -operation.slack()));
            if (blockBytes(sizeBytes - granuleBytes) < sizeBytes) {
                assertThrows(IllegalArgumentException.class, () -> strategy.extend(address, sizeBytes - granuleBytes));
            }
        }
    }

    private long handleOf(final long address) {
        return Objects.requireNonNull(retired.get(address), "not retired");
    }

    private boolean anyInUse() {
        return live.size() > retired.size();
    }

    private long addressInUse(final int pick) {
        int left = pick % (live.size() - retired.size());
        for (final long address : live.keySet()) {
            if (!retired.containsKey(address) && left-- == 0) {
                return address;
            }
        }
        throw new AssertionError("unreachable");
    }

    private long retiredAddress(final int pick) {
        int left = pick % retired.size();
        for (final long address : retired.keySet()) {
            if (left-- == 0) {
                return address;
            }
        }
        throw new AssertionError("unreachable");
    }

    /**
     * Returns the size of the block for a request. Requests are at most four times the region, and a region is small
     * enough that rounding up can't overflow.
     */
    private long blockBytes(final long sizeBytes) {
        return blockBytes.applyAsLong(sizeBytes, granuleBytes);
    }

    enum Kind {
        ALLOCATE,
        ALLOCATE_ALIGNED,
        ALLOCATE_BY_HANDLE,
        NAME,
        FREE,
        TRIM,
        EXTEND,
        RETIRE,
        RELEASE,
        RESTORE,
        RETIRE_FREE,
        WRONG_ADDRESS,
        WRONG_HANDLE,
        WRONG_SIZE
    }

    /**
     * An operation is one step. Its numbers only have a meaning together with the region and the live blocks. So any
     * part of a sequence is a sequence, too, and jqwik can shrink it.
     * @param kind which call to make
     * @param pick which block, by order of address, modulo how many there are
     * @param sizeLog2 magnitude of a size, in granules, modulo one more than the largest useful one
     * @param sizeFraction where between this power of two and the next, in 256ths
     * @param slack bytes that a size stays below a whole granule, modulo the granule; also used for other small choices
     * @param alignmentLog2 log2 of the alignment in granules
     */
    record Operation(Kind kind, int pick, int sizeLog2, int sizeFraction, int slack, int alignmentLog2) {

        /** Returns a size, usually up to {@code limitBytes}, sometimes up to four times as much. */
        long sizeBytes(final long limitBytes, final long granuleBytes) {
            final long limit = Math.max(1, limitBytes / granuleBytes);
            final int magnitude = sizeLog2 % (Long.SIZE - Long.numberOfLeadingZeros(limit) + 1);
            final long granules = (1L << magnitude) + (((long) sizeFraction << magnitude) >>> 8);
            return granules * granuleBytes - slack % granuleBytes;
        }

        /** Returns an alignment of at least a granule. */
        long alignmentBytes(final long granuleBytes) {
            return granuleBytes << alignmentLog2;
        }
    }
}
