package examples;

import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;

/** A program that uses a pool: what is in packages of this project never comes first in a leak's stack. */
public final class Program {

    private Program() {}

    public static DeviceBuffer buffer(final Pool pool, final long sizeBytes) {
        return pool.buffer(sizeBytes);
    }

    /** And no more: the buffer is lost. */
    public static long address(final DeviceBuffer buffer) {
        return buffer.address();
    }
}
