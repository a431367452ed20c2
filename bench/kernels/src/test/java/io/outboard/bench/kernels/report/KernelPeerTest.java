package io.outboard.bench.kernels.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KernelPeerTest {

    private static final String HEADING = "case,peer,allocateUs,freeUs,emptyAllocateUs,emptyFreeUs,date,harness\n";

    @Test
    void shouldKnowThePeersOfThePublishedTableAndThoseThatWereMeasuredSince() {
        final List<KernelPeer> peers = KernelPeer.load();

        assertEquals(
                31, peers.stream().map(KernelPeer::caseName).distinct().count(), "18 published and 13 measured since");
        for (final String name : List.of("Gallatin", "Ouroboros", "ScatterAlloc", "Halloc", "published CMMalloc")) {
            assertTrue(peers.stream().anyMatch(peer -> peer.peer().equals(name)), name);
        }
        assertTrue(peers.stream()
                .allMatch(
                        peer -> peer.date().equals("2026-11") && peer.harness().startsWith("an independent harness")));
    }

    /**
     * The file has this peer twice: 7/7 microseconds with an empty kernel of 5/5, and then finer figures, which count.
     */
    @Test
    void shouldTakeTheLeastNetOfTheEmptyKernel() {
        final KernelPeer best =
                KernelPeer.best(KernelPeer.load(), "AD T10k 16 B").orElseThrow();

        assertEquals("Halloc", best.peer());
        assertEquals("6.9/7.0", best.times().text());
        assertEquals("1.0/1.1", best.net().text());
    }

    @Test
    void shouldHaveNoFreeWhereBothAreOneKernel() {
        final KernelPeer best =
                KernelPeer.best(KernelPeer.load(), "P T1k 256 B").orElseThrow();

        assertTrue(Double.isNaN(best.times().free()));
        assertEquals(51.7, best.net().total(), 0.001);
        assertEquals(Optional.empty(), KernelPeer.best(KernelPeer.load(), "AD T10k 17 B"));
    }

    @Test
    void shouldLetTheLaterOfTwoRowsCount() {
        final List<KernelPeer> peers = KernelPeer.read(
                "sample",
                "# a comment\n" + HEADING + "A,X,9,8,1,1,2026-11,h\nA,Y,9,8,1,1,2026-11,h\nA,X,5,4,1,1,2026-11,h");

        assertEquals(2, peers.size());
        assertEquals(9, peers.get(0).times().total());
        assertFalse(Double.isNaN(peers.get(0).times().free()));
    }

    @Test
    void shouldNameALineThatIsMalformed() {
        for (final String line : List.of("A,X,9,8,1,1,2026-11", "A,X,fast,8,1,1,2026-11,h")) {
            final IllegalStateException failure =
                    assertThrows(IllegalStateException.class, () -> KernelPeer.read("sample", HEADING + line));

            final String message = String.valueOf(failure.getMessage());
            assertTrue(message.startsWith("sample: line " + line + " must have "), message);
        }
    }
}
