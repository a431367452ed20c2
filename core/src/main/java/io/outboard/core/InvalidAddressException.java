package io.outboard.core;

/**
 * An address at which no block in use starts was given to {@link Strategy#free} or its kin: never allocated, freed
 * already, or inside a block. The message says which, and the call changed nothing.
 */
public final class InvalidAddressException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final long address;

    /**
     * For an address.
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
        if (strategy.region().contains(address)) {
            strategy.forEachBlock(finder);
        } else {
            finder.found = "it lies outside of the region " + strategy.region();
        }
        return new InvalidAddressException(
                address,
                "address=0x" + Long.toHexString(address) + " must be the start of a block in use: " + finder.found);
    }

    /**
     * The address that was given.
     *
     * @return absolute device address
     */
    public long address() {
        return address;
    }

    private static final class Finder implements BlockVisitor {

        private final long wanted;
        private String found = "it lies in the rest after the region's last whole granule";

        Finder(final long wanted) {
            this.wanted = wanted;
        }

        @Override
        public void visit(final long address, final long sizeBytes, final boolean free) {
            if (wanted >= address && wanted - address < sizeBytes) {
                final String block = "block [0x" + Long.toHexString(address) + ", " + sizeBytes + " bytes]";
                if (free) {
                    found = "it lies in the free " + block + ", so it was freed already or never allocated";
                } else {
                    found = "it lies " + (wanted - address) + " bytes inside the " + block + " in use";
                }
            }
        }
    }
}
