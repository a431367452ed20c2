package io.outboard.pool;

import io.outboard.core.MemorySource;

/**
 * A source of memory that a device works on while the program goes on: a block freed may still be in use by a kernel. A
 * pool over one is {@link ReusePolicy#STRICT} unless it is told otherwise. Safe for any number of threads.
 */
public interface DeviceMemorySource extends MemorySource {

    /** {@return what knows when the device has finished with freed blocks; always the same, not {@code NONE}} */
    DeviceWork work();
}
