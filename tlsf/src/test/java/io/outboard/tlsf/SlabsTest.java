package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.outboard.core.Region;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests cover slots and windows; tests of strategies that have slabs cover how those are used. */
class SlabsTest {

    private static final long WINDOW = 64 * 4096;
    private static final long BASE = 1L << 40;

    /** The test tries every offset in a slab, for every size that a slot has with any granule. */
    @Tag("thorough")
    @Test
    void shouldFindTheSlotOfEveryOffset() {
        for (int slotBytes = 1; slotBytes <= Slabs.PAGE_BYTES; slotBytes++) {
            final int reciprocal = Slabs.reciprocal(slotBytes);
            for (int slot = 0; slot < Slabs.SLOTS; slot++) {
                for (int offset = slot * slotBytes; offset < (slot + 1) * slotBytes; offset++) {
                    if (Slabs.slotOf(offset, reciprocal) != slot) {
                        fail("slot " + Slabs.slotOf(offset, reciprocal) + " of " + slotBytes + " bytes at " + offset);
                    }
                }
            }
        }
    }

    @Test
    void shouldHoldTheAddressesOfASlabAndNoOthers() {
        final Slabs slabs = new Slabs(new Region(BASE, 4 * WINDOW), 256);
        final int slab = slabs.add(BASE + 2 * WINDOW, 3);

        assertEquals(slab, slabs.holding(BASE + 2 * WINDOW));
        assertEquals(slab, slabs.holding(BASE + 2 * WINDOW + 64 * 768 - 1));
        assertEquals(Slabs.NONE, slabs.holding(BASE + 2 * WINDOW + 64 * 768));
        assertEquals(Slabs.NONE, slabs.holding(BASE + 2 * WINDOW - 1));
        assertEquals(Slabs.NONE, slabs.holding(BASE + 3 * WINDOW));
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -WINDOW, -1, 0, BASE - 1, BASE + WINDOW, Long.MAX_VALUE})
    void shouldHoldNoAddressOutsideOfTheRegion(final long address) {
        final Slabs slabs = new Slabs(new Region(BASE, WINDOW), 4096);
        slabs.add(BASE, 1);

        assertEquals(Slabs.NONE, slabs.holding(address));
    }

    @Test
    void shouldTellRetiredSlotsFromThoseInUse() {
        final Slabs slabs = new Slabs(new Region(BASE, WINDOW), 256);
        final int slab = slabs.add(BASE, 2);
        slabs.take(slab);
        slabs.take(slab);

        slabs.retire(slab, 1);

        assertFalse(slabs.isRetired(slab, 0));
        assertTrue(slabs.isRetired(slab, 1));
        slabs.readmit(slab, 1);
        assertFalse(slabs.isRetired(slab, 1));
    }

    @Test
    void shouldFindOnlyStartsOfSlotsInUse() {
        final Slabs slabs = new Slabs(new Region(BASE, WINDOW), 256);
        final int slab = slabs.add(BASE, 2);
        assertEquals(BASE, slabs.take(slab));
        assertEquals(BASE + 512, slabs.take(slab));

        for (long offset = 0; offset < 64 * 512; offset++) {
            final int expected = offset == 0 ? 0 : offset == 512 ? 1 : Slabs.NONE;
            assertEquals(expected, slabs.usedSlotAt(slab, BASE + offset));
        }
    }

    @Test
    void shouldCountEmptySlabs() {
        final Slabs slabs = new Slabs(new Region(BASE, 2 * WINDOW), 256);
        assertEquals(Slabs.NONE, slabs.emptyOf(2));

        final int slab = slabs.add(BASE, 2);
        assertEquals(1, slabs.emptyCount());
        assertEquals(slab, slabs.emptyOf(2));

        slabs.take(slab);
        assertEquals(0, slabs.emptyCount());
        assertEquals(Slabs.NONE, slabs.emptyOf(2));

        assertFalse(slabs.release(slab, 0));
        assertEquals(1, slabs.emptyCount());

        slabs.remove(slab);
        assertEquals(0, slabs.emptyCount());
        assertEquals(0, slabs.count());
    }

    @Test
    void shouldCountARetiredSlotNeitherAsFreeNorAsInUse() {
        final Slabs slabs = new Slabs(new Region(BASE, WINDOW), 256);
        final int slab = slabs.add(BASE, 2);
        slabs.take(slab);
        slabs.take(slab);

        slabs.retire(slab, 1);

        assertEquals(Slabs.NONE, slabs.usedSlotAt(slab, BASE + 512));
        assertEquals(BASE + 1024, slabs.take(slab));
        assertFalse(slabs.release(slab, 0));
        assertFalse(slabs.release(slab, 2));
        assertFalse(slabs.isEmpty(slab));
        assertEquals(1, slabs.usedSlots());
        assertFalse(slabs.releaseRetired(slab, 1));
        assertTrue(slabs.isEmpty(slab));
        assertEquals(0, slabs.usedBytes());
    }

    @Test
    void shouldHaveOneClassForEachMultipleOfTheGranuleUpToAPage() {
        assertEquals(4096, new Slabs(new Region(BASE, WINDOW), 1).slotLimitBytes());
        assertEquals(4096, new Slabs(new Region(BASE, WINDOW), 256).slotLimitBytes());
        assertEquals(4096, new Slabs(new Region(BASE, WINDOW), 4096).slotLimitBytes());
        assertEquals(0, new Slabs(new Region(BASE, WINDOW), 8192).slotLimitBytes());
    }

    /** The regions start anywhere from the start of a window to its last granule. */
    @Test
    void shouldLengthenWindowsRatherThanHaveMoreThan2To18() {
        assertEquals(WINDOW, new Slabs(new Region(BASE, WINDOW << 18), 256).windowBytes());
        assertEquals(2 * WINDOW, new Slabs(new Region(BASE, (WINDOW << 18) + 1), 256).windowBytes());
        assertEquals(2 * WINDOW, new Slabs(new Region(BASE + WINDOW - 256, WINDOW << 18), 256).windowBytes());
    }

    @Test
    void shouldServeTheLastWindowOfTheLargestRegion() {
        final Region region = new Region(BASE, (4096L << 32) - 4096);
        final Slabs slabs = new Slabs(region, 4096);
        final long last = (region.endAddress() - 1) & -slabs.windowBytes();

        final int slab = slabs.add(last, 1);

        assertEquals(last, slabs.take(slab));
        assertEquals(slab, slabs.holding(last + WINDOW - 1));
        assertEquals(Slabs.NONE, slabs.holding(last + WINDOW));
        assertTrue(slabs.hostBytes() <= 8 << 20, () -> slabs.hostBytes() + " bytes");
    }
}
