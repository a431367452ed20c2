package examples;

import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;

/** This program uses a pool. Packages of this project never come first in a leak's stack, so it is in another. */
public final class Program {

    private Program() {}

    public static DeviceBuffer buffer(final Pool pool, final long sizeBytes) {
        return pool.buffer(sizeBytes);
    }

    public static long allocate(final Pool pool, final long sizeBytes) {
        return pool.allocate(sizeBytes);
    }

    public static void free(final Pool pool, final long address) {
        pool.free(address);
    }

    /** Returns the address and loses the buffer. */
    public static long address(final DeviceBuffer buffer) {
        return buffer.address();
    }
}
