package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * These tests say what {@link HandleStrategy} promises beyond {@link Strategy}. Each strategy with handles has a
 * subclass that supplies {@link #create} and no more.
 */
public abstract class HandleStrategyContractTest extends StrategyContractTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Override
    protected abstract HandleStrategy create(Region region, StrategyOptions options);

    private HandleStrategy withHandles(final long granules) {
        return withHandles(new Region(BASE, granules * GRANULE), OPTIONS);
    }

    private HandleStrategy withHandles(final Region region, final StrategyOptions options) {
        return create(region, options.withGranuleBytes(granuleBytes()));
    }

    @Test
    void shouldTakeTheSameBlockByHandleAsByAddress() {
        final HandleStrategy byAddress = withHandles(64);
        final HandleStrategy byHandle = withHandles(64);
        final Random random = new Random(1);

        for (int i = 0; i < 20; i++) {
            final long sizeBytes = 1L + random.nextInt((int) (4 * GRANULE));
            final long address = byAddress.allocate(sizeBytes);
            final long handle = byHandle.allocateByHandle(sizeBytes);
            if (address == Strategy.NO_SPACE) {
                assertEquals(Strategy.NO_SPACE, handle);
            } else {
                assertTrue(handle >= 0, () -> "handle=" + handle);
                assertEquals(address, byHandle.addressOf(handle));
                assertEquals(byAddress.sizeOf(address), byHandle.sizeByHandle(handle));
                assertNotEquals(address, handle);
            }
            assertEquals(State.of(byAddress), State.of(byHandle));
        }
    }

    @Test
    void shouldMergeOnFreeByHandle() {
        final HandleStrategy strategy = withHandles(64);
        final long[] handles = new long[64];
        for (int i = 0; i < 64; i++) {
            handles[i] = strategy.allocateByHandle(GRANULE);
        }
        assertEquals(64, strategy.liveBlocks());
        assertEquals(0, strategy.freeBytes());

        for (int i = 0; i < 64; i++) {
            strategy.freeByHandle(handles[i * 37 % 64]);
            assertEquals(63 - i, strategy.liveBlocks());
            assertEquals((i + 1) * GRANULE, strategy.freeBytes());
        }

        assertWhole(strategy);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void shouldRefuseASizeByHandleThatIsNone(final long sizeBytes) {
        for (final long granuleBytes : new long[] {1, 256}) {
            final HandleStrategy strategy =
                    create(new Region(BASE, 8 * GRANULE), OPTIONS.withGranuleBytes(granuleBytes));

            final Throwable thrown = assertThrowsUnchanged(
                    IllegalArgumentException.class, strategy, () -> strategy.allocateByHandle(sizeBytes));

            assertMessage(thrown, "sizeBytes=" + sizeBytes + " must be > 0");
        }
    }

    @Test
    void shouldAnswerNoSpaceByHandle() {
        final HandleStrategy strategy = withHandles(8);
        assertEquals(Strategy.NO_SPACE, strategy.allocateByHandle(8 * GRANULE + 1));
        assertEquals(Strategy.NO_SPACE, strategy.allocateByHandle(Long.MAX_VALUE));
        assertWhole(strategy);

        final long handle = strategy.allocateByHandle(8 * GRANULE);

        assertEquals(Strategy.NO_SPACE, strategy.allocateByHandle(1));
        strategy.freeByHandle(handle);
        assertWhole(strategy);
    }

    @Test
    void shouldRefuseByHandleWhatItsTablesCannotHold() {
        assumeCoalesces();
        final HandleStrategy strategy = withHandles(new Region(BASE, 64 * GRANULE), OPTIONS.withMaxBlocks(2));
        final long handle = strategy.allocateByHandle(GRANULE);

        assertThrowsUnchanged(BlockTableFullException.class, strategy, () -> strategy.allocateByHandle(GRANULE));

        strategy.freeByHandle(handle);
        assertWhole(strategy);
    }

    /** Each wrong handle differs by one bit from the handle of a block; there are blocks of every kind. */
    @Test
    void shouldRefuseEveryHandleThatNamesNoBlock() {
        final HandleStrategy strategy = withHandles(64);
        final long[] handles = new long[64];
        for (int i = 0; i < 64; i++) {
            handles[i] = strategy.allocateByHandle(GRANULE);
        }
        final Set<Long> valid = new HashSet<>();
        final Set<Long> wrong = new HashSet<>(
                List.of(Strategy.NO_SPACE, Long.MIN_VALUE, Long.MAX_VALUE, -1L << 32, 1L << 32, 0xFFFFFFFFL, 0L));
        for (int i = 0; i < 64; i++) {
            wrong.add(handles[i]);
            for (int bit = 0; bit < Long.SIZE; bit++) {
                wrong.add(handles[i] ^ 1L << bit);
            }
            switch (i % 4) {
                case 0 -> strategy.freeByHandle(handles[i]);
                case 1 -> strategy.retireByHandle(handles[i]);
                case 2 -> strategy.nameByAddress(handles[i]);
                default -> valid.add(handles[i]);
            }
        }
        wrong.removeAll(valid);

        wrong.forEach(handle -> assertHandleRefused(strategy, handle));

        valid.forEach(handle -> assertEquals(GRANULE, strategy.sizeByHandle(handle)));
    }

    @Test
    void shouldRefuseAHandleAfterItsBlockWasFreed() {
        final HandleStrategy strategy = withHandles(8);
        final long handle = strategy.allocateByHandle(2 * GRANULE);
        final long address = strategy.addressOf(handle);
        strategy.freeByHandle(handle);

        final InvalidAddressException thrown = assertHandleRefused(strategy, handle);

        assertEquals(address, thrown.address());
        assertMessage(thrown, "handle=0x" + Long.toHexString(handle) + " must name a block in use: ");
        assertMessage(thrown, "0x" + Long.toHexString(address) + ", so it was freed already, ");
    }

    /** The handle is refused, whatever its record is used for by then. */
    @Test
    void shouldRefuseAHandleWhenWhatItNamedHasBecomeAPartOfAnotherBlock() {
        assumeBlockOf(64);
        final HandleStrategy strategy = withHandles(64);
        final long first = strategy.allocateByHandle(GRANULE);
        final long second = strategy.allocateByHandle(GRANULE);
        final long third = strategy.allocateByHandle(GRANULE);
        strategy.freeByHandle(second);
        strategy.freeByHandle(first);
        strategy.freeByHandle(third);

        final long whole = strategy.allocateByHandle(largestFreeBytes(strategy));

        for (final long stale : new long[] {first, second, third}) {
            if (stale != whole) {
                assertHandleRefused(strategy, stale);
            }
        }
        strategy.freeByHandle(whole);
        assertWhole(strategy);
    }

    /** A handle doesn't tell a block from an earlier one in the same place, and neither does an address. */
    @Test
    void shouldGiveTheSameHandleToABlockInTheSamePlaceThatFollows() {
        assumeCoalesces();
        final HandleStrategy strategy = withHandles(64);
        strategy.allocateByHandle(GRANULE);
        final long handle = strategy.allocateByHandle(GRANULE);
        final long address = strategy.addressOf(handle);
        strategy.freeByHandle(handle);

        final long again = strategy.allocateByHandle(GRANULE);

        assertEquals(address, strategy.addressOf(again));
        assertEquals(handle, again);
    }

    @Test
    void shouldRefuseTheAddressOfABlockThatAHandleNames() {
        final HandleStrategy strategy = withHandles(64);
        final long handle = strategy.allocateByHandle(8 * GRANULE);
        final long address = strategy.addressOf(handle);

        final InvalidAddressException thrown = assertRefused(strategy, address);
        assertThrowsUnchanged(InvalidAddressException.class, strategy, () -> strategy.nameByHandle(address));
        if (strategy instanceof PartRetiringStrategy parts) {
            assertThrowsUnchanged(InvalidAddressException.class, strategy, () -> parts.retireTail(address, 1));
        }
        final InvalidAddressException inside = assertRefused(strategy, address + 2 * GRANULE);

        final String block =
                "it lies in the block [0x" + Long.toHexString(address) + ", 2KiB], which is named by a handle";
        assertMessage(thrown, block);
        assertMessage(inside, block);
        strategy.freeByHandle(handle);
        assertWhole(strategy);
    }

    @Test
    void shouldRefuseByHandleABlockThatItsAddressNames() {
        final HandleStrategy strategy = withHandles(64);
        final long handle = strategy.allocateByHandle(8 * GRANULE);

        final long address = strategy.nameByAddress(handle);

        assertHandleRefused(strategy, handle);
        assertEquals(8 * GRANULE, strategy.sizeOf(address));
        strategy.free(address);
        assertHandleRefused(strategy, handle);
        assertWhole(strategy);
    }

    @Test
    void shouldNameABlockByAddressAndByHandleInTurn() {
        final HandleStrategy strategy = withHandles(64);
        final long aligned = strategy.allocate(8 * GRANULE, coalesces() ? 16 * GRANULE : 1);
        final State before = State.of(strategy);

        final long handle = strategy.nameByHandle(aligned);

        assertEquals(before, State.of(strategy));
        assertEquals(aligned, strategy.addressOf(handle));
        assertEquals(aligned, strategy.nameByAddress(handle));
        assertEquals(before, State.of(strategy));
        assertEquals(handle, strategy.nameByHandle(aligned));
        strategy.freeByHandle(handle);
        assertWhole(strategy);
    }

    @Test
    void shouldKeepTheHandleOfABlockWhoseSizeChanges() {
        final HandleStrategy strategy = withHandles(64);
        final long handle = strategy.allocateByHandle(8 * GRANULE);

        final long address = strategy.nameByAddress(handle);
        strategy.trim(address, 2 * GRANULE);
        assertEquals(handle, strategy.nameByHandle(address));
        strategy.nameByAddress(handle);
        strategy.extend(address, 4 * GRANULE);
        final long sizeBytes = strategy.sizeOf(address);

        assertEquals(handle, strategy.nameByHandle(address));
        assertEquals(sizeBytes, strategy.sizeByHandle(handle));
        strategy.freeByHandle(handle);
        assertWhole(strategy);
    }

    @Test
    void shouldRefuseToNameByHandleWhatIsNoBlockInUse() {
        final HandleStrategy strategy = withHandles(8);
        final long address = strategy.allocate(2 * GRANULE);
        strategy.free(address);

        assertThrowsUnchanged(InvalidAddressException.class, strategy, () -> strategy.nameByHandle(address));
        assertThrowsUnchanged(InvalidAddressException.class, strategy, () -> strategy.nameByHandle(-1));
    }

    @Test
    void shouldRetireByHandleAndRelease() {
        final HandleStrategy strategy = withHandles(8);
        final long handle = strategy.allocateByHandle(8 * GRANULE);
        final long address = strategy.addressOf(handle);

        final long retired = strategy.retireByHandle(handle);

        assertHandleRefused(strategy, handle);
        assertRefused(strategy, address);
        assertEquals(1, strategy.liveBlocks());
        assertEquals(0, strategy.freeBytes());
        assertEquals(address, strategy.retiredAddress(retired));
        assertEquals(8 * GRANULE, strategy.retiredBytes(retired));
        assertEquals(8 * GRANULE, strategy.release(retired));
        assertHandleRefused(strategy, handle);
        assertWhole(strategy);
    }

    @Test
    void shouldRestoreUnderTheAddressWhatWasRetiredByHandle() {
        final HandleStrategy strategy = withHandles(8);
        final long handle = strategy.allocateByHandle(8 * GRANULE);
        final long retired = strategy.retireByHandle(handle);

        final long address = strategy.restore(retired);

        assertHandleRefused(strategy, handle);
        assertEquals(8 * GRANULE, strategy.sizeOf(address));
        assertEquals(handle, strategy.nameByHandle(address));
        strategy.freeByHandle(handle);
        assertWhole(strategy);
    }

    @Test
    void shouldKeepHandlesWhileItsTablesGrow() {
        final HandleStrategy growing = withHandles(new Region(BASE, 2000 * 4 * LARGE), OPTIONS.growing(1));
        final long[] handles = new long[2000];
        final long[] addresses = new long[2000];
        for (int i = 0; i < 2000; i++) {
            handles[i] = i % 3 == 0 ? growing.nameByHandle(growing.allocate(LARGE)) : growing.allocateByHandle(LARGE);
            addresses[i] = growing.addressOf(handles[i]);
        }

        for (int i = 0; i < 2000; i++) {
            assertEquals(addresses[i], growing.addressOf(handles[i]));
        }

        for (int i = 0; i < 2000; i++) {
            growing.freeByHandle(handles[i]);
        }
        assertWhole(growing);
    }

    /** The least garbage of a few rounds counts, as in {@code shouldMakeNoGarbage}. */
    @Test
    void shouldMakeNoGarbageByHandle() {
        final HandleStrategy strategy = withHandles(new Region(BASE, OperationMix.REGION_BYTES), OPTIONS);
        final long[] handles = new long[64];
        long leastBytes = Long.MAX_VALUE;

        for (int round = 0; round < 6; round++) {
            final long before = THREADS.getCurrentThreadAllocatedBytes();
            churn(strategy, handles);
            leastBytes = Math.min(leastBytes, THREADS.getCurrentThreadAllocatedBytes() - before);
        }

        assertEquals(0, leastBytes);
        assertWhole(strategy);
    }

    private static void churn(final HandleStrategy strategy, final long[] handles) {
        long random = 1;
        for (int i = 0; i < 50_000; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            final int slot = (int) (random >>> 58);
            // A slot holds 1 more than its handle, since 0 is a handle, too.
            if (handles[slot] == 0) {
                handles[slot] = 1 + strategy.allocateByHandle(1 + (random >>> 20 & 0xFFFF));
            } else if ((random >>> 16 & 3) == 0) {
                strategy.release(strategy.retireByHandle(handles[slot] - 1));
                handles[slot] = 0;
            } else if ((random >>> 16 & 3) == 1) {
                handles[slot] = 1 + strategy.nameByHandle(strategy.nameByAddress(handles[slot] - 1));
            } else {
                strategy.freeByHandle(handles[slot] - 1);
                handles[slot] = 0;
            }
        }
        for (int slot = 0; slot < handles.length; slot++) {
            if (handles[slot] != 0) {
                strategy.freeByHandle(handles[slot] - 1);
                handles[slot] = 0;
            }
        }
    }

    private static InvalidAddressException assertHandleRefused(final HandleStrategy strategy, final long handle) {
        final List<LongConsumer> calls =
                List.of(strategy::retireByHandle, strategy::addressOf, strategy::sizeByHandle, strategy::nameByAddress);
        for (final LongConsumer call : calls) {
            assertThrowsUnchanged(InvalidAddressException.class, strategy, () -> call.accept(handle));
        }
        return assertThrowsUnchanged(InvalidAddressException.class, strategy, () -> strategy.freeByHandle(handle));
    }
}
