package io.outboard.bench.cli.measurement;

import org.jspecify.annotations.Nullable;

/**
 * Memory after one operation of a trace, in bytes.
 *
 * @param operation how many operations had been done
 * @param liveBytes what the program asked for and hasn't freed
 * @param extentBytes from the region's start to the end of the last block in use; null where there is no region
 * @param regionBytes size of the region; null where there is none
 * @param deviceUsedBytes what the device itself reports as in use; null without a device
 */
public record MemorySample(
        long operation,
        long liveBytes,
        @Nullable Long extentBytes,
        @Nullable Long regionBytes,
        @Nullable Long deviceUsedBytes) {

    public static final String HEADER = "operation,liveBytes,extentBytes,regionBytes,deviceUsedBytes";

    /** How many samples a trace gives, about. */
    public static final int SAMPLES = 500;

    public String line() {
        return operation + "," + liveBytes + "," + text(extentBytes) + "," + text(regionBytes) + ","
                + text(deviceUsedBytes);
    }

    private static String text(final @Nullable Long bytes) {
        return bytes == null ? "" : bytes.toString();
    }
}
