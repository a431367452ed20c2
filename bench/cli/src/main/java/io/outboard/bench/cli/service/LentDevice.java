package io.outboard.bench.cli.service;

import com.sun.management.OperatingSystemMXBean;
import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.cuda.CudaLendingDevice;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.service.LendingDevice;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** This class opens the device that {@code --device} and {@code --limit} describe. */
final class LentDevice {

    private static final long UNIT_BYTES = 1L << 21;

    private LentDevice() {}

    /**
     * Opens the device.
     *
     * @throws WrongUseException if one of the two values is wrong
     * @throws IOException if this isn't Linux, or the JDK is older than 22
     */
    static LendingDevice open(final String device, final String limit) throws IOException {
        if (device.equals("memory")) {
            final long totalBytes = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                    .getTotalMemorySize();
            final long bytes = Share.bytes("--limit", limit, totalBytes) & -UNIT_BYTES;
            if (bytes == 0 || bytes > totalBytes) {
                throw new WrongUseException("--limit=" + limit + " must be >= 2MiB, and no more than this machine has");
            }
            return LendingDevice.memory(bytes);
        }
        if (!device.matches("[0-9]{1,9}")) {
            throw new WrongUseException("--device=" + device + " must be memory or the number of a GPU");
        }
        final int number = Integer.parseInt(device);
        try {
            return Share.isPart(limit)
                    ? CudaLendingDevice.open(number, Share.part("--limit", limit))
                    : CudaLendingDevice.openBytes(number, OptionValue.bytes("--limit", limit));
        } catch (final CudaUnavailableException e) {
            throw new WrongUseException("--device=" + device + " must be a GPU that works: " + e.getMessage());
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
    }
}
