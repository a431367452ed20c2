package io.outboard.service;

import io.outboard.core.ByteSize;

/**
 * A quota says how much memory the clients of one name may have together. Immutable.
 *
 * @param guaranteedBytes what nobody else is lent, in bytes, {@code 0 <= guaranteedBytes}
 * @param mostBytes what these clients are lent at most, in bytes, {@code guaranteedBytes <= mostBytes}
 */
public record Quota(long guaranteedBytes, long mostBytes) {

    /** The quota without a guarantee, and with as much as others leave. */
    public static final Quota NONE = new Quota(0, Long.MAX_VALUE);

    /**
     * Checks the numbers.
     *
     * @param guaranteedBytes what nobody else is lent, in bytes
     * @param mostBytes what the clients are lent at most, in bytes
     * @throws IllegalArgumentException if one is outside of its range
     */
    public Quota {
        if (guaranteedBytes < 0) {
            throw new IllegalArgumentException("guaranteedBytes=" + guaranteedBytes + " must be >= 0");
        }
        if (mostBytes < guaranteedBytes) {
            throw new IllegalArgumentException(
                    "mostBytes=" + mostBytes + " must be >= guaranteedBytes=" + guaranteedBytes);
        }
    }

    /**
     * {@return the quota in short, such as {@code 1GiB:4GiB}; without the part behind the colon if there is no bound}
     */
    @Override
    public String toString() {
        return ByteSize.text(guaranteedBytes) + ":" + (mostBytes == Long.MAX_VALUE ? "" : ByteSize.text(mostBytes));
    }

    /**
     * Reads a quota as a command line has it.
     *
     * @param argument what the quota is for; it begins the message of a failure
     * @param text {@code GUARANTEED:MOST}, sizes as {@link ByteSize#parse} reads them, such as {@code 1GiB:4GiB}; an
     *     empty size means no guarantee, or no bound
     * @return the quota
     * @throws IllegalArgumentException if {@code text} isn't a quota
     */
    public static Quota parse(final String argument, final String text) {
        final int colon = text.indexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException(argument + "=" + text + " must be GUARANTEED:MOST, such as 1GiB:4GiB");
        }
        final String guaranteed = text.substring(0, colon);
        final String most = text.substring(colon + 1);
        return new Quota(
                guaranteed.isBlank() ? 0 : ByteSize.parse(argument, guaranteed),
                most.isBlank() ? Long.MAX_VALUE : ByteSize.parse(argument, most));
    }
}
