package io.outboard.tlsf;

/** This class tells which block serves a request, calculated in another way than in the code under test. */
final class BuddySizes {

    private BuddySizes() {}

    static long binary(final long sizeBytes, final long granuleBytes) {
        long blockBytes = granuleBytes;
        while (blockBytes < sizeBytes) {
            blockBytes *= 2;
        }
        return blockBytes;
    }

    static long fibonacci(final long sizeBytes, final long granuleBytes) {
        long smallerBytes = granuleBytes;
        long blockBytes = granuleBytes;
        while (blockBytes < sizeBytes) {
            final long sumBytes = smallerBytes + blockBytes;
            smallerBytes = blockBytes;
            blockBytes = sumBytes;
        }
        return blockBytes;
    }

    static long ofTwoSystems(final long sizeBytes, final long granuleBytes) {
        final long first = binary(sizeBytes, granuleBytes);
        final long second = binary(sizeBytes, 3 * granuleBytes);
        return Math.min(first, second);
    }
}
