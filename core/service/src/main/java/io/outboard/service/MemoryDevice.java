package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;

/**
 * A memory device is what {@link LendingDevice#memory} returns. Only the lender's ledger enforces the limit. Tests
 * extend this class by devices that are slow or full.
 */
class MemoryDevice implements LendingDevice {

    /** The device's name. */
    static final String NAME = "memory";

    /** The unit of leases, which is that of GPUs. */
    static final long UNIT_BYTES = 1L << 21;

    private final Linux linux = LinuxCalls.find();
    private final long limitBytes;

    MemoryDevice(final long limitBytes) throws IOException {
        if (limitBytes <= 0 || limitBytes % UNIT_BYTES != 0) {
            throw new IllegalArgumentException(
                    "limitBytes=" + limitBytes + " must be > 0 and a multiple of " + UNIT_BYTES);
        }
        this.limitBytes = limitBytes;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public long unitBytes() {
        return UNIT_BYTES;
    }

    @Override
    public long limitBytes() {
        return limitBytes;
    }

    @Override
    public boolean isExclusive() {
        return false;
    }

    @Override
    public Memory create(final long bytes) throws IOException {
        try {
            return new FileMemory(linux, linux.memory(bytes));
        } catch (final LinuxException e) {
            if (e.isOutOfMemory()) {
                throw DeviceOutOfMemoryException.ofDevice(bytes, 0, e.getMessage());
            }
            throw e;
        }
    }

    @Override
    public void close() {
        // The device itself has nothing open, only the memory that is being lent.
    }

    private static final class FileMemory implements Memory {

        private final Linux linux;
        private final int file;
        private boolean closed;

        FileMemory(final Linux linux, final int file) {
            this.linux = linux;
            this.file = file;
        }

        @Override
        public int descriptor() {
            return file;
        }

        @Override
        public Memory readOnly() throws IOException {
            return new FileMemory(linux, linux.openReadOnly(file));
        }

        @Override
        public synchronized void close() {
            if (!closed) {
                closed = true;
                linux.close(file);
            }
        }
    }
}
