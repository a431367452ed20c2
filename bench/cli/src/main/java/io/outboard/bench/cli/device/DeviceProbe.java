package io.outboard.bench.cli.device;

import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A probe is the answer to {@code --device auto|none|N}: a device that works, or no device and the reason.
 *
 * <p>{@code none} loads nothing of JCuda. {@code auto} is device 0 if that device works, and otherwise none. A number
 * is an error if the device of that number doesn't work. Immutable except for closing, and as safe for threads as the
 * source that it holds.
 */
public final class DeviceProbe implements AutoCloseable {

    private static final String AUTO = "auto";
    private static final String NONE = "none";

    private final @Nullable CudaMemorySource source;
    private final String reason;

    private DeviceProbe(final @Nullable CudaMemorySource source, final String reason) {
        this.source = source;
        this.reason = reason;
    }

    /**
     * Checks a choice without looking for a device, for the moment when arguments are read.
     *
     * @param choice what the user typed
     * @throws IllegalArgumentException if the choice is neither {@code auto} nor {@code none} nor a number from 0 up
     */
    public static void checkChoice(final String choice) {
        Objects.requireNonNull(choice, "choice");
        if (!AUTO.equals(choice) && !NONE.equals(choice)) {
            ordinalOf(choice);
        }
    }

    /**
     * Looks for the device.
     *
     * @param choice {@code auto}, {@code none} or a device's number
     * @return the answer; the caller closes it
     * @throws IllegalArgumentException if the choice is none of these
     * @throws CudaUnavailableException if the choice is a number and that device doesn't work; the message is one line
     */
    public static DeviceProbe open(final String choice) {
        checkChoice(choice);
        if (NONE.equals(choice)) {
            return new DeviceProbe(null, "device=none was asked for");
        }
        if (!AUTO.equals(choice)) {
            return new DeviceProbe(CudaMemorySource.open(ordinalOf(choice)), "");
        }
        try {
            return new DeviceProbe(CudaMemorySource.open(0), "");
        } catch (final CudaUnavailableException e) {
            return new DeviceProbe(null, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Returns the memory of the device that was found; {@code source().get().device()} has the facts about the device.
     *
     * @return nothing if there is no device
     */
    public Optional<CudaMemorySource> source() {
        return Optional.ofNullable(source);
    }

    /**
     * Says why there is no device.
     *
     * @return one line, empty if there is a device
     */
    public String reason() {
        return reason;
    }

    /** Gives the device's memory back. Idempotent. */
    @Override
    public void close() {
        if (source != null) {
            source.close();
        }
    }

    private static int ordinalOf(final String choice) {
        // A number of at most nine digits always fits an int, and there will never be so many devices.
        if (!choice.matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException("device=" + choice + " must be auto, none or a number >= 0");
        }
        return Integer.parseInt(choice);
    }
}
