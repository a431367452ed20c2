package io.outboard.bench.cli.measurement;

import org.jspecify.annotations.Nullable;

/**
 * A sample tells how much memory was in use after one operation of a trace, in bytes.
 *
 * @param operation number of operations done before the sample
 * @param liveBytes bytes that the program requested and hasn't freed
 * @param extentBytes distance from the region's start to the end of the last block in use; null where there is no
 *     region
 * @param regionBytes size of the region; null where there is none
 * @param deviceUsedBytes what the device itself reports as in use, by all processes; null without a device. A driver's
 *     allocator has had nothing of it at the first sample.
 */
public record MemorySample(
        long operation,
        long liveBytes,
        @Nullable Long extentBytes,
        @Nullable Long regionBytes,
        @Nullable Long deviceUsedBytes) {

    public static final String HEADER = "operation,liveBytes,extentBytes,regionBytes,deviceUsedBytes";

    /** The approximate number of samples of a trace. */
    public static final int SAMPLES = 500;

    public String line() {
        return operation + "," + liveBytes + "," + text(extentBytes) + "," + text(regionBytes) + ","
                + text(deviceUsedBytes);
    }

    private static String text(final @Nullable Long bytes) {
        return bytes == null ? "" : bytes.toString();
    }
}
