package io.outboard.cuda.kernels;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PreSplitTest {

    @Test
    void shouldKnowTheSchemesByTheNumbersOfTheKernel() {
        assertAll(
                () -> assertEquals(0, PreSplit.none().scheme()),
                () -> assertEquals(1, PreSplit.binaryHeap(64).scheme()),
                () -> assertEquals(2, PreSplit.uniform(64).scheme()));
    }

    @Test
    void shouldKeepASchemeWithAnotherEnd() {
        assertEquals(
                new PreSplit(PreSplit.Kind.UNIFORM, 64, 4096),
                PreSplit.uniform(64).withLargeEnd(4096));
    }

    @ParameterizedTest
    @ValueSource(longs = {-16, 0, 16, 31, 40, (64L << 30) + 16})
    void shouldRefuseAChunkThatCannotBe(final long bytes) {
        final String rule = "=" + bytes + " must be a multiple of 16 from 32 to 68719476736";

        assertAll(
                () -> assertEquals(
                        "chunkBytes" + rule,
                        assertThrows(IllegalArgumentException.class, () -> PreSplit.uniform(bytes))
                                .getMessage()),
                () -> assertEquals(
                        "chunkBytes" + rule,
                        assertThrows(IllegalArgumentException.class, () -> PreSplit.binaryHeap(bytes))
                                .getMessage()));
    }

    @Test
    void shouldRefuseAnEndThatCannotBe() {
        assertEquals(
                "largeEndBytes=100 must be a multiple of 16 from 32 to 68719476736",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> PreSplit.none().withLargeEnd(100))
                        .getMessage());
    }

    @Test
    void shouldRefuseASizeWithoutAScheme() {
        assertEquals(
                "chunkBytes=64 must be 0 with kind=NONE",
                assertThrows(IllegalArgumentException.class, () -> new PreSplit(PreSplit.Kind.NONE, 64, 0))
                        .getMessage());
    }
}
