package io.outboard.service;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The backlog is what a lender keeps of messages for all clients together that don't read. When it is too much, whoever
 * leaves most is dropped. Confined to the lender's thread. O(clients) for a message once it is too much.
 */
final class Backlog {

    /**
     * The most bytes of messages that are kept. In memory a message takes twice its bytes, so this bounds a flood to some
     * 16 MiB of the heap.
     */
    static final long MOST_BYTES = 8L << 20;

    private final Set<Peer> peers = new LinkedHashSet<>();
    private long bytes;

    /** Counts a message that is kept for a client. */
    void add(final Peer peer, final long more) {
        peers.add(peer);
        bytes += more;
        while (bytes > MOST_BYTES) {
            Peer most = peer;
            for (final Peer each : peers) {
                most = each.keptBytes() > most.keptBytes() ? each : most;
            }
            most.doomAsUnread();
        }
    }

    /** Counts messages that are sent or dropped. */
    void remove(final Peer peer, final long fewer) {
        bytes -= fewer;
        if (peer.keptBytes() == 0) {
            peers.remove(peer);
        }
    }
}
