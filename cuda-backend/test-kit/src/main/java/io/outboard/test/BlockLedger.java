package io.outboard.test;

import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.PoolListener;
import io.outboard.pool.ReusePolicy;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The ledger knows each block that the pool has handed out, and those that were freed until their memory has another
 * owner; and it knows what uses them. It keeps the faults that it finds.
 *
 * <p>Time is a number that grows with each allocation, free and launch. A kernel may use a block that was handed out
 * before its launch and freed after it, as long as the pool's policy keeps the memory for it: always with {@code
 * STRICT}; with {@code STREAM_ORDERED} if the kernel ends before the point of the stream on which the block was freed;
 * never with {@code IMMEDIATE}.
 *
 * <p>Thread-safety: safe for any number of threads. All share the monitor of the device, which kernels run under.
 */
final class BlockLedger implements PoolListener {

    /** The number of blocks in use that the exception names when memory runs out. */
    private static final int MOST_NAMED = 8;

    final Object lock;

    private final SimulatedDevice device;
    private final long memoryBytes;
    private ReusePolicy policy = ReusePolicy.STRICT;

    private final NavigableMap<Long, Block> used = new TreeMap<>();
    private final NavigableMap<Long, Block> freed = new TreeMap<>();

    /** Where each stream is, by its handle, if it has waited for another. */
    private final Map<Long, StreamPoint> points = new HashMap<>();

    private final List<MemoryFaultError> faults = new ArrayList<>();
    private long time;
    private long requests;
    private long failingRequest = Long.MAX_VALUE;
    private int running;

    BlockLedger(final SimulatedDevice device, final long memoryBytes) {
        this.device = device;
        this.memoryBytes = memoryBytes;
        lock = device;
    }

    void policy(final ReusePolicy newPolicy) {
        synchronized (lock) {
            policy = newPolicy;
        }
    }

    // What the pool tells

    /** Counts a request, and lets it fail if it is the one that is to. */
    @Override
    public void allocating(final long sizeBytes) {
        synchronized (lock) {
            checkOutsideOfKernels();
            if (++requests == failingRequest) {
                throw DeviceOutOfMemoryException.ofDevice(
                        sizeBytes, 0, memoryBytes, "request " + requests + ", which the test lets fail");
            }
        }
    }

    private void checkOutsideOfKernels() {
        // Kernels run under the lock, so this thread does.
        if (running > 0) {
            throw new IllegalStateException("a kernel must not call the pool");
        }
    }

    @Override
    public void allocated(final long address, final long sizeBytes, final long stream) {
        synchronized (lock) {
            final Block block = new Block(address, sizeBytes, ++time, point(stream), CallSite.here());
            for (final Block before : takeOverlapped(address, address + sizeBytes)) {
                for (final Launch user : unfinished(before)) {
                    if (!block.point.isAfter(user) && before.reported.add(user)) {
                        fault("hazard: " + before + " is handed out again while " + user + " may still use it"
                                + block.allocatedAt.lines("handed out") + user.site.lines("launched")
                                + before.lines());
                    }
                }
                block.reported.addAll(before.reported);
            }
            used.put(address, block);
        }
    }

    @Override
    public void refused(final long sizeBytes, final DeviceOutOfMemoryException exception) {
        synchronized (lock) {
            final String blocks = used.values().stream()
                    .sorted(Comparator.comparingLong((Block block) -> block.sizeBytes)
                            .reversed())
                    .limit(MOST_NAMED)
                    .map(block -> "\n" + block + block.lines())
                    .collect(Collectors.joining());
            final RuntimeException inUse =
                    new RuntimeException("in use are " + used.size() + " blocks, the largest of them:" + blocks);
            inUse.setStackTrace(new StackTraceElement[0]);
            exception.addSuppressed(inUse);
        }
    }

    @Override
    public void freeing(final long address, final long stream) {
        synchronized (lock) {
            checkOutsideOfKernels();
            final Block block = used.remove(address);
            if (block == null) {
                // The pool refuses it.
                return;
            }
            block.freeTime = ++time;
            block.freePoint = point(stream);
            final CallSite site = CallSite.here();
            for (final Launch user : unfinished(block)) {
                if (!isKeptFor(block, user)) {
                    block.reported.add(user);
                    fault("hazard: " + block + " is freed while " + user + " may still use it, with reuse " + policy
                            + site.lines("freed") + user.site.lines("launched") + block.lines());
                }
            }
            block.freedAt = site;
            freed.put(address, block);
        }
    }

    @Override
    public void resized(final long address, final long newSizeBytes) {
        synchronized (lock) {
            final Block block = used.get(address);
            if (block != null) {
                block.sizeBytes = newSizeBytes;
            }
        }
    }

    private StreamPoint point(final long stream) {
        return points.getOrDefault(stream, new StreamPoint(stream, Map.of()));
    }

    private List<Block> takeOverlapped(final long address, final long endAddress) {
        final Long first = freed.floorKey(address);
        final NavigableMap<Long, Block> near = freed.subMap(first == null ? address : first, true, endAddress, false);
        final List<Block> overlapped = near.values().stream()
                .filter(block -> block.endAddress() > address)
                .toList();
        overlapped.forEach(block -> freed.remove(block.address));
        return overlapped;
    }

    private List<Launch> unfinished(final Block block) {
        block.users.removeIf(user -> device.hasFinished(user.stream, user.number));
        return block.users;
    }

    private boolean isKeptFor(final Block block, final Launch user) {
        return switch (policy) {
            case IMMEDIATE -> false;
            case STREAM_ORDERED -> block.freePoint.stream() == NO_STREAM || block.freePoint.isAfter(user);
            default -> true;
        };
    }

    // What streams tell

    /** Notes that a stream waits for another's work up to a number. */
    void order(final long stream, final long other, final long number) {
        points.put(stream, point(stream).behind(point(other), number));
    }

    /** Notes a launch of a kernel that is given these addresses. */
    Launch launch(final String name, final long stream, final long number, final long... addresses) {
        final CallSite site = CallSite.here();
        final Set<Block> given = new LinkedHashSet<>();
        final Launch launch = new Launch(name, stream, number, ++time, given, site);
        for (final long address : addresses) {
            final Block block = blockAt(used, address);
            if (block == null) {
                final Block before = blockAt(freed, address);
                throw fault((before == null ? "bounds: " : "hazard: ") + launch + " is given 0x"
                        + Long.toHexString(address) + ", "
                        + (before == null
                                ? "which lies in no block" + site.lines("launched")
                                : "of " + before + ", which was freed" + site.lines("launched") + before.lines()));
            }
            given.add(block);
        }
        for (final Block block : given) {
            unfinished(block).add(launch);
        }
        return launch;
    }

    /** Notes that a kernel begins, or ends. */
    void running(final boolean begins) {
        running += begins ? 1 : -1;
    }

    /** Notes that a kernel threw something. */
    void failed(final Launch launch, final Throwable thrown) {
        faults.add(
                new MemoryFaultError("kernel: " + launch + " threw " + thrown + launch.site.lines("launched"), thrown));
    }

    // What is read and written

    /** Throws if a kernel, or the test where {@code launch} is null, may not use this memory now. */
    void check(final @Nullable Launch launch, final String does, final long address, final long sizeBytes) {
        if (sizeBytes < 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be >= 0");
        }
        final Block block = blockAt(used, address);
        if (block == null) {
            checkUnused(launch, does, address, sizeBytes);
        } else if (launch != null && block.time > launch.time) {
            // Memory of the old owner, which stream order keeps for it; or a fault that is known.
            if (!block.point.isAfter(launch) && block.reported.add(launch)) {
                throw fault("hazard: " + access(launch, does, address, sizeBytes, block)
                        + ", which was handed out after the launch" + lines(launch, block));
            }
        } else if (launch != null && !launch.given.isEmpty() && !launch.given.contains(block)) {
            throw outOfBounds(
                    launch, does, address, sizeBytes, givenBelow(launch, address), "in a block that it wasn't given");
        } else if (sizeBytes > block.endAddress() - address) {
            throw outOfBounds(launch, does, address, sizeBytes, block, "past its end");
        }
    }

    private void checkUnused(
            final @Nullable Launch launch, final String does, final long address, final long sizeBytes) {
        final Block before = blockAt(freed, address);
        if (before == null) {
            final Map.Entry<Long, Block> below = used.floorEntry(address);
            throw below == null
                    ? outOfBounds(launch, does, address, sizeBytes, null, "in no block")
                    : outOfBounds(launch, does, address, sizeBytes, below.getValue(), "past its end");
        }
        final boolean isInTime = launch != null && before.time < launch.time && launch.time < before.freeTime;
        if (!isInTime || !(isKeptFor(before, launch) || before.reported.contains(launch))) {
            throw fault("hazard: " + access(launch, does, address, sizeBytes, before) + ", which was freed"
                    + (isInTime ? " meanwhile, with reuse " + policy : "") + lines(launch, before));
        }
        if (sizeBytes > before.endAddress() - address) {
            throw outOfBounds(launch, does, address, sizeBytes, before, "past its end");
        }
    }

    private static @Nullable Block blockAt(final NavigableMap<Long, Block> blocks, final long address) {
        final Map.Entry<Long, Block> below = blocks.floorEntry(address);
        return below != null && below.getValue().contains(address) ? below.getValue() : null;
    }

    private static @Nullable Block givenBelow(final Launch launch, final long address) {
        return launch.given.stream()
                .filter(block -> block.address <= address)
                .max(Comparator.comparingLong(block -> block.address))
                .orElse(null);
    }

    private MemoryFaultError outOfBounds(
            final @Nullable Launch launch,
            final String does,
            final long address,
            final long sizeBytes,
            final @Nullable Block block,
            final String where) {
        return fault(
                "bounds: " + access(launch, does, address, sizeBytes, block) + ", " + where + lines(launch, block));
    }

    private static String access(
            final @Nullable Launch launch,
            final String does,
            final long address,
            final long sizeBytes,
            final @Nullable Block block) {
        return (launch == null ? "the test" : launch) + " " + does + " " + ByteSize.exact(sizeBytes) + " at "
                + (block == null
                        ? "0x" + Long.toHexString(address)
                        : "offset " + (address - block.address) + " of " + block);
    }

    private static String lines(final @Nullable Launch launch, final @Nullable Block block) {
        return CallSite.here().lines("accessed")
                + (launch == null ? "" : launch.site.lines("launched"))
                + (block == null ? "" : block.lines());
    }

    private MemoryFaultError fault(final String message) {
        final MemoryFaultError fault = new MemoryFaultError(message, null);
        faults.add(fault);
        return fault;
    }

    // What a test asks

    void failRequest(final long request) {
        synchronized (lock) {
            failingRequest = requests + request;
        }
    }

    long requests() {
        synchronized (lock) {
            return requests;
        }
    }

    List<MemoryFaultError> takeFaults() {
        synchronized (lock) {
            final List<MemoryFaultError> taken = List.copyOf(faults);
            faults.clear();
            return taken;
        }
    }

    List<MemoryFaultError> leaks() {
        synchronized (lock) {
            return used.values().stream().map(BlockLedger::leak).toList();
        }
    }

    private static MemoryFaultError leak(final Block block) {
        final MemoryFaultError leak = new MemoryFaultError("leak: " + block + " wasn't freed" + block.lines(), null);
        leak.setStackTrace(block.allocatedAt.calls().toArray(StackTraceElement[]::new));
        return leak;
    }
}
