package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import java.io.IOException;
import java.nio.file.Path;
import jdk.jfr.Recording;

/** This class records two pools of one program, which use the same addresses. */
public final class TwoPools {

    private TwoPools() {}

    /** Records two pools of these names into a file with JFR; an empty name leaves the pool without one. */
    public static void record(final Path file, final String firstName, final String secondName) throws IOException {
        try (Recording recording = new Recording();
                Pool first = named(firstName);
                Pool second = named(secondName)) {
            recording.enable("io.outboard.Allocation").withoutStackTrace();
            recording.enable("io.outboard.Free").withoutStackTrace();
            recording.start();
            final long address = first.allocate(1 << 20);
            for (int i = 0; i < 3; i++) {
                second.free(second.allocate(1 << 10));
            }
            assertThrows(DeviceOutOfMemoryException.class, () -> second.allocate(1 << 25));
            first.free(address);
            recording.stop();
            recording.dump(file);
        }
    }

    static Pool named(final String name) {
        final PoolBuilder builder = Pool.over(new VirtualMemorySource(1L << 32)).limitBytes(1 << 24);
        return (name.isEmpty() ? builder : builder.name(name)).build();
    }
}
