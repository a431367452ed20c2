package io.outboard.test;

import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.PoolListener;
import io.outboard.pool.ReusePolicy;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
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

    /** The blocks in use by their addresses, in the order in which they were handed out. */
    private final Map<Long, Block> used = new LinkedHashMap<>();

    /** The ranges that belong to a block or did last, by their first addresses. They don't overlap. */
    private final NavigableMap<Long, Range> ranges = new TreeMap<>();

    private record Range(long endAddress, Block block) {}

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
            takeOver(block, address, block.endAddress());
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
                    new RuntimeException("blocks in use: " + used.size() + ", the largest first:" + blocks);
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
        }
    }

    @Override
    public void resized(final long address, final long newSizeBytes) {
        synchronized (lock) {
            final Block block = used.get(address);
            if (block == null) {
                return;
            }
            final long oldEnd = block.endAddress();
            final long newEnd = address + newSizeBytes;
            if (newEnd < oldEnd) {
                final Block tail = block.asFreed(++time, CallSite.here());
                splitAt(newEnd);
                // Another thread may have been given a part of it already.
                ranges.subMap(newEnd, oldEnd)
                        .replaceAll((start, range) -> range.block == block ? new Range(range.endAddress, tail) : range);
            } else if (newEnd > oldEnd) {
                takeOver(block, oldEnd, newEnd);
            }
            block.resize(newSizeBytes);
        }
    }

    private StreamPoint point(final long stream) {
        return points.getOrDefault(stream, new StreamPoint(stream, Map.of()));
    }

    /** Gives a block a range. It inherits the launches that may still use the range, but that end before its own. */
    private void takeOver(final Block block, final long start, final long end) {
        splitAt(start);
        splitAt(end);
        final Map<Long, Range> taken = ranges.subMap(start, end);
        for (final Block before :
                taken.values().stream().map(Range::block).distinct().toList()) {
            // A block in use is one that another thread is trimming.
            final List<Launch> users = before.freedAt == null ? List.of() : unfinished(before);
            for (final Launch user : users) {
                if (before.reported.contains(user)) {
                    continue;
                }
                if (block.point.isAfter(user)) {
                    block.users.add(user);
                } else {
                    before.reported.add(user);
                    fault("hazard: " + before + " is handed out again while " + user + " may still use it"
                            + block.allocatedAt.lines("handed out") + user.site.lines("launched") + before.lines());
                }
            }
            block.reported.addAll(before.reported);
        }
        taken.clear();
        ranges.put(start, new Range(end, block));
    }

    private void splitAt(final long address) {
        final Map.Entry<Long, Range> below = ranges.lowerEntry(address);
        if (below != null && below.getValue().endAddress > address) {
            ranges.put(address, below.getValue());
            ranges.put(below.getKey(), new Range(address, below.getValue().block));
        }
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
            final String what = launch + " is given 0x" + Long.toHexString(address);
            final Block block = blockAt(address);
            if (block == null) {
                throw fault("bounds: " + what + ", which lies in no block" + site.lines("launched"));
            }
            if (block.freedAt != null) {
                throw fault("hazard: " + what + ", of " + block + ", which was freed" + site.lines("launched")
                        + block.lines());
            }
            final Launch user = formerUser(block, point(stream));
            if (user != null) {
                throw fault("hazard: " + what + ", of " + block + ", which " + user + " may still use"
                        + site.lines("launched") + user.site.lines("launched before") + block.lines());
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
        // A kernel's access may go through parts of the memory that it had at its launch which have new owners by now.
        Block own = null;
        long start = address;
        long left = sizeBytes;
        while (left > 0) {
            final Map.Entry<Long, Range> below = ranges.floorEntry(start);
            final Block block = below == null ? null : below.getValue().block;
            if (block == null || below.getValue().endAddress <= start) {
                throw outOfBounds(launch, does, address, sizeBytes, own == null ? block : own, "past its end");
            }
            final boolean isNew = launch != null && block.time > launch.time;
            if (own != null && (isNew ? start >= own.mostEndAddress() : block.time != own.time)) {
                throw outOfBounds(launch, does, address, sizeBytes, own, "past its end");
            }
            if (launch != null && !launch.mayReach(block, start)) {
                throw outOfBounds(
                        launch, does, start, left, givenBelow(launch, start), "in a block that it wasn't given");
            }
            if (launch != null && isNew) {
                checkNew(launch, does, start, left, block);
            } else {
                checkOwn(launch, does, start, left, block);
                own = block;
            }
            final long part = Math.min(left, below.getValue().endAddress - start);
            start += part;
            left -= part;
        }
    }

    /** Checks a kernel's access to a block that was handed out after its launch: memory that the kernel had before. */
    private void checkNew(
            final Launch launch, final String does, final long address, final long sizeBytes, final Block block) {
        if (!block.point.isAfter(launch) && block.reported.add(launch)) {
            throw fault("hazard: " + access(launch, does, address, sizeBytes, block)
                    + ", which was handed out after the launch" + lines(launch, block));
        }
    }

    private void checkOwn(
            final @Nullable Launch launch,
            final String does,
            final long address,
            final long sizeBytes,
            final Block block) {
        if (block.freedAt != null) {
            final boolean isInTime = launch != null && launch.time < block.freeTime;
            if (launch == null || !isInTime || !(isKeptFor(block, launch) || block.reported.contains(launch))) {
                throw fault("hazard: " + access(launch, does, address, sizeBytes, block) + ", which was freed"
                        + (isInTime ? " meanwhile, with reuse " + policy : "") + lines(launch, block));
            }
        }
        final Launch user = formerUser(block, StreamPoint.NONE);
        if (user != null) {
            throw fault("hazard: " + access(launch, does, address, sizeBytes, block) + ", which " + user
                    + " may still use" + lines(launch, block) + user.site.lines("launched before"));
        }
    }

    /** Answers a launch of a former owner that may still use a block, and doesn't end before a point; null if none. */
    private @Nullable Launch formerUser(final Block block, final StreamPoint point) {
        return unfinished(block).stream()
                .filter(user -> user.time < block.time && !point.isAfter(user))
                .findFirst()
                .orElse(null);
    }

    private @Nullable Block blockAt(final long address) {
        final Map.Entry<Long, Range> below = ranges.floorEntry(address);
        return below != null && address < below.getValue().endAddress ? below.getValue().block : null;
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
        return fault("bounds: " + access(launch, does, address, sizeBytes, block) + ", "
                + (block == null ? "in no block" : where) + lines(launch, block));
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
