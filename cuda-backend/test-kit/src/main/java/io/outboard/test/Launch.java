package io.outboard.test;

import java.util.Set;

/**
 * A launch is one kernel's way through a stream. Two launches are equal only if they are the same.
 *
 * <p>{@code number} is its number in its stream, from 1, and {@code time} the time of the launch, as the {@link
 * BlockLedger} counts time. {@code given} are the blocks of the addresses that it was launched with: it may use no
 * others, unless it was launched with none.
 */
final class Launch {
    final String name;
    final long stream;
    final long number;
    final long time;
    final Set<Block> given;
    final CallSite site;

    Launch(
            final String name,
            final long stream,
            final long number,
            final long time,
            final Set<Block> given,
            final CallSite site) {
        this.name = name;
        this.stream = stream;
        this.number = number;
        this.time = time;
        this.given = given;
        this.site = site;
    }

    /** {@return whether it was given a block, or one that had this address before: or none, so that it may use all} */
    boolean mayReach(final Block block, final long address) {
        return given.isEmpty()
                || given.stream()
                        .anyMatch(each -> block.time > time
                                ? each.address <= address && address < each.mostEndAddress()
                                : each.time == block.time);
    }

    @Override
    public String toString() {
        return "kernel " + name + " on stream " + stream;
    }
}
