package io.outboard.pool;

import io.outboard.core.MemorySource;

/**
 * This source has memory that a device works on while the program goes on, so a kernel may still be using a freed
 * block. A pool over such a source is {@link ReusePolicy#STRICT} unless it is told otherwise. Safe for any number of
 * threads.
 */
public interface DeviceMemorySource extends MemorySource {

    /** {@return what knows when the device has finished with freed blocks; always the same, not {@code NONE}} */
    DeviceWork work();
}
