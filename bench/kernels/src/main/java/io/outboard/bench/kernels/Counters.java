package io.outboard.bench.kernels;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.cuda.driver.DevicePointers;
import java.util.Locale;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;

/** The counters of checks in device memory, {@code Counters} of {@code kernels.cu}, are read and written here. */
final class Counters {

    /** A key is a field of {@code Counters} in {@code kernels.cu}. */
    enum Key {
        NULLS(0),
        MISALIGNED(1),
        OUTSIDE(2),
        MISMATCHES(3),
        SERVED(4),
        REPEATS(5),
        LATE(6),
        LIVE(7),
        PEAK(8),
        OPERATIONS(9),
        FALSE_NULLS(10),
        OTHER_NULLS(11),
        LARGEST(12);

        private final int index;

        Key(final int index) {
            this.index = index;
        }
    }

    /** The size in device memory. */
    static final long BYTES = (long) Key.values().length * Long.BYTES;

    private final CUdeviceptr pointer = new CUdeviceptr();

    Counters(final long address) {
        DevicePointers.set(pointer, address);
    }

    long address() {
        return DevicePointers.address(pointer);
    }

    void clear() {
        BenchDevice.check("cuMemsetD8", JCudaDriver.cuMemsetD8(pointer, (byte) 0, BYTES));
    }

    /** Returns what has been counted so far. */
    Counts read() {
        final long[] words = new long[Key.values().length];
        BenchDevice.check("cuMemcpyDtoH", JCudaDriver.cuMemcpyDtoH(Pointer.to(words), pointer, BYTES));
        return new Counts(words);
    }

    /** Returns a key of a result, such as {@code leakedChunks} or {@code agedLeakedChunks}. */
    static String named(final String prefix, final String name) {
        return prefix.isEmpty() ? name : prefix + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    }

    /** The counts are numbers as they were when they were read. Immutable. */
    static final class Counts {

        private final long[] words;

        private Counts(final long... words) {
            this.words = words;
        }

        long get(final Key key) {
            return words[key.index];
        }

        /** Adds what checks count to a result; {@code prefix} begins the names, as in {@code agedNulls}. */
        void addTo(final JsonLine json, final String prefix) {
            json.put(named(prefix, "nulls"), get(Key.NULLS))
                    .put(named(prefix, "misaligned"), get(Key.MISALIGNED))
                    .put(named(prefix, "outside"), get(Key.OUTSIDE))
                    .put(named(prefix, "mismatches"), get(Key.MISMATCHES));
        }
    }
}
