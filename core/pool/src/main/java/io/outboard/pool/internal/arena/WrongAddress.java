package io.outboard.pool.internal.arena;

import io.outboard.core.InvalidAddressException;

/** Says what is wrong with an address that isn't the start of a block in use. */
final class WrongAddress {

    private WrongAddress() {}

    /** In a segment, where it isn't among the starts. Its arena's lock is held. */
    static InvalidAddressException in(final Segment segment, final long address) {
        try {
            segment.strategy.sizeOf(address);
        } catch (final InvalidAddressException e) {
            return e;
        }
        return of(address, "it was freed already, by another thread");
    }

    static InvalidAddressException of(final long address, final String why) {
        return new InvalidAddressException(
                address, "address=0x" + Long.toHexString(address) + " must be the start of a block in use: " + why);
    }
}
