package io.outboard.bench.kernels.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BitmapPlacesTest {

    @ParameterizedTest
    @CsvSource({"3000,40", "65536,16", "1000000,72", "268435456,56", "4294967296,100"})
    void shouldHaveAsManyPlacesAsThereIsRoomFor(final long heapBytes, final int placeBytes) {
        final BitmapPlaces places = BitmapPlaces.in(heapBytes, placeBytes);

        assertTrue(places.placeBytes() >= placeBytes && places.placeBytes() % 16 == 0);
        assertTrue(places.bytes() <= heapBytes);
        assertTrue(new BitmapPlaces(places.units(), places.count() + 1).bytes() > heapBytes);
        assertTrue(places.offsetOf(0) >= (long) places.count() * places.placeBytes());
    }

    /** Each level has a bit for each place, or for each word of the level below, and no others. */
    @ParameterizedTest
    @CsvSource({"1", "63", "64", "65", "4096", "4097", "262145"})
    void shouldHaveABitForEachPlaceAndWord(final int count) {
        final BitmapPlaces places = new BitmapPlaces(1, count);
        long bits = count;

        for (int level = 0; level < BitmapPlaces.LEVELS; level++) {
            assertEquals(
                    bits,
                    Arrays.stream(places.allFree(level)).map(Long::bitCount).sum(),
                    "level " + level);
            bits = places.wordsOf(level);
        }
        assertEquals(0, places.used(places.allFree(0)));
    }

    @Test
    void shouldNeedRoomForAPlace() {
        final IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> BitmapPlaces.in(1000, 40));

        assertEquals("heapBytes=1000 must have room for a place of 48 bytes", failure.getMessage());
    }

    /** As in a language's own structures: each field aligned to its size, all to the widest. */
    @ParameterizedTest
    @CsvSource({"0,4,20", "0,8,40", "4,4,24", "4,8,40"})
    void shouldPadStructures(final int head, final int idBytes, final int expected) {
        assertEquals(
                expected,
                ObjectType.of("Thing", 1, 4, ObjectType.ID, 4, ObjectType.ID, 4).structureBytes(head, idBytes));
    }
}
