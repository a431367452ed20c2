package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import java.lang.management.ManagementFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests what README says of garbage: none for addresses, an object of a stated size for each buffer. */
class GarbageTest {

    private static final int OPERATIONS = 20_000;
    private static final int MOST_RUNS = 100;

    @Test
    void shouldLeaveNoneForAddresses() {
        try (Pool pool = Pool.over(new VirtualMemorySource()).build()) {
            final double bytes = leastBytesPerOperation(0, () -> pool.free(pool.allocate(1000)));

            assertTrue(bytes < 0.01, "bytes=" + bytes);
        }
    }

    @Test
    void shouldLeaveOneObjectForEachBuffer() {
        final Matcher said = Pattern.compile("object\\s+of (\\d+) bytes")
                .matcher(Page.read("README.md").text());
        assertTrue(said.find());
        final double most = Double.parseDouble(said.group(1));
        try (Pool pool = Pool.over(new VirtualMemorySource()).build()) {
            final double bytes = leastBytesPerOperation(most, () -> {
                try (DeviceBuffer buffer = pool.buffer(1000)) {
                    assertTrue(buffer.sizeBytes() > 0);
                }
            });

            assertTrue(bytes <= most + 0.01, "bytes=" + bytes + " must be what README says, " + most);
        }
    }

    /**
     * Repeats the operation until it makes as little garbage as expected, or {@link #MOST_RUNS} times: at first, the
     * interpreter and the compiler make some.
     */
    private static double leastBytesPerOperation(final double enough, final Runnable operation) {
        final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        double least = Double.MAX_VALUE;
        for (int run = 0; run < MOST_RUNS && least > enough + 0.01; run++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < OPERATIONS; i++) {
                operation.run();
            }
            least = Math.min(least, (double) (threads.getCurrentThreadAllocatedBytes() - before) / OPERATIONS);
        }
        return least;
    }
}
