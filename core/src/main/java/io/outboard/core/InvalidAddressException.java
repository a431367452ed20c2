package io.outboard.core;

/**
 * This exception says that {@link Strategy#free} or a similar method was given an address at which no block in use
 * starts, since it was never allocated, was freed or retired already, or is inside a block; or a handle that names no
 * block. The message says which, and the call changed nothing.
 */
public final class InvalidAddressException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /** The address that was given. */
    private final long address;

    /**
     * Makes an exception for an address.
     *
     * @param address absolute device address
     * @param message says what is there
     */
    public InvalidAddressException(final long address, final String message) {
        super(message);
        this.address = address;
    }

    /**
     * Finds out what is at an address that isn't the start of a block in use. O(blocks): for the error path only.
     *
     * @param strategy whose region to look into
     * @param address the wrong address
     * @return the exception, not thrown
     */
    public static InvalidAddressException of(final Strategy strategy, final long address) {
        final Finder finder = new Finder(address);
        final String found;
        if (strategy.region().contains(address)) {
            strategy.forEachBlock(finder);
            found = finder.describe(strategy);
        } else {
            found = "it lies outside of the region " + strategy.region();
        }
        return new InvalidAddressException(
                address, "address=0x" + Long.toHexString(address) + " must be the start of a block in use: " + found);
    }

    /**
     * Tells the address that was given, or that a handle has in it.
     *
     * @return absolute device address
     */
    public long address() {
        return address;
    }

    private static final class Finder implements BlockVisitor {

        private final long wanted;
        private long start;
        private long bytes;
        private boolean isFree;

        Finder(final long wanted) {
            this.wanted = wanted;
        }

        @Override
        public void visit(final long address, final long sizeBytes, final boolean free) {
            if (wanted >= address && wanted - address < sizeBytes) {
                start = address;
                bytes = sizeBytes;
                isFree = free;
            }
        }

        String describe(final Strategy strategy) {
            if (bytes == 0) {
                return "it lies in the rest after the region's last whole granule";
            }
            final String block = "block [0x" + Long.toHexString(start) + ", " + ByteSize.exact(bytes) + "]";
            if (isFree) {
                return "it lies in the free " + block + ", so it was freed already or never allocated";
            }
            final long offsetBytes = wanted - start;
            // The memory is taken, though no block in use starts there, so it can only be a retired block.
            if (offsetBytes == 0) {
                return "it was freed already, and the memory of its " + block + " isn't released yet";
            }
            return "it lies " + offsetBytes + " bytes inside the " + block
                    + (isInUse(strategy) ? " in use" : ", which was freed already and isn't released yet");
        }

        private boolean isInUse(final Strategy strategy) {
            try {
                return strategy.sizeOf(start) > 0;
            } catch (final InvalidAddressException retired) {
                return false;
            }
        }
    }
}
