package io.outboard.pool;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A pool model is a program on a simulated device, and what must be true of its pool. For each freed block, the model
 * remembers all work that was submitted before, whatever that uses. As long as some of that work is unfinished, none of
 * the block's bytes may be handed out.
 */
final class PoolModel {

    static final long GRANULE = 256;
    static final int STREAMS = 3;

    private static final long LIMIT_BYTES = 8L << 20;

    /** The number of frees of an operation that fills more than one batch of a stream. */
    private static final int MANY = 70;

    /** This error means that a block was handed out while work submitted before its free was unfinished. */
    static final class HazardError extends AssertionError {

        private static final long serialVersionUID = 1L;

        HazardError(final String message) {
            super(message);
        }
    }

    enum Kind {
        LAUNCH,
        FINISH,
        ALLOCATE,
        ALLOCATE_ALIGNED,
        ALLOCATE_ASYNC,
        FREE,
        FREE_ASYNC,
        FREE_TWICE,
        EXTEND,
        TRIM,
        TRIM_TO,
        MANY_BLOCKS,
        CAPTURE,
        END_STREAM
    }

    /**
     * An operation is a step of a program.
     *
     * @param kind what to do
     * @param stream on which stream, from 0
     * @param pick which block of those in use
     * @param sizeLog2 log2 of a size
     * @param more what is added to the size, in 1/256 of it
     */
    record Operation(Kind kind, int stream, int pick, int sizeLog2, int more) {

        long sizeBytes() {
            return (1L << sizeLog2) + ((more * (1L << sizeLog2)) >>> 8);
        }
    }

    private record Freed(long address, long sizeBytes, long stream, Map<Long, Long> workBefore) {}

    private static final long NO_STREAM = -1;

    private final ReusePolicy policy;
    private final SimulatedDevice device = new SimulatedDevice();
    private final FailingMemorySource source;
    private final Pool pool;
    private final long[] streams = new long[STREAMS];
    private long nextStream = 1;
    private boolean capturing;

    private final TreeMap<Long, Long> live = new TreeMap<>();
    private final TreeMap<Long, Long> everFreed = new TreeMap<>();
    private final List<Freed> pending = new ArrayList<>();
    private long allocations;
    private long failures;
    private long peakBytes;

    PoolModel(final ReusePolicy policy, final FailingMemorySource source) {
        this.policy = policy;
        this.source = source;
        pool = Pool.over(source)
                .reuse(policy, device)
                .strategy("tlsf", new StrategyOptions(GRANULE, 4096))
                .firstRegionBytes(2L << 20)
                .limitBytes(LIMIT_BYTES)
                .limboLimitBytes(1L << 19)
                .build();
        for (int i = 0; i < STREAMS; i++) {
            streams[i] = nextStream++;
        }
    }

    void apply(final Operation operation) {
        final long stream = streams[operation.stream()];
        switch (operation.kind()) {
            case LAUNCH -> device.submit(stream);
            case FINISH -> device.finishNext(stream);
            case ALLOCATE -> allocate(operation.sizeBytes(), 1, NO_STREAM);
            case ALLOCATE_ALIGNED -> allocate(operation.sizeBytes(), 1L << (operation.more() % 20), NO_STREAM);
            case ALLOCATE_ASYNC -> allocate(operation.sizeBytes(), 1, stream);
            case FREE -> free(operation.pick(), NO_STREAM);
            case FREE_ASYNC -> free(operation.pick(), stream);
            case FREE_TWICE -> freeTwice(operation.pick());
            case EXTEND -> extend(operation);
            case TRIM -> trim(operation);
            case TRIM_TO ->
                assertEquals(
                        pool.trimTo(operation.sizeBytes()), pool.statistics().heldBytes());
            case MANY_BLOCKS -> many(stream);
            case CAPTURE -> capture(operation.more() < 64);
            case END_STREAM -> endStream(operation.stream(), operation.more() < 128);
        }
    }

    private void capture(final boolean newCapturing) {
        capturing = newCapturing;
        device.capturing(newCapturing);
    }

    private void endStream(final int slot, final boolean reuseHandle) {
        device.endStream(streams[slot]);
        if (reuseHandle) {
            device.beginStream(streams[slot]);
        } else {
            streams[slot] = nextStream++;
        }
    }

    private void many(final long stream) {
        for (int i = 0; i < MANY; i++) {
            allocate(GRANULE, 1, stream);
        }
        for (int i = 0; i < MANY && !live.isEmpty(); i++) {
            free(i * 31, stream);
        }
    }

    private void allocate(final long sizeBytes, final long alignmentBytes, final long stream) {
        final long address;
        try {
            if (stream != NO_STREAM) {
                address = pool.allocateAsync(sizeBytes, stream);
            } else {
                address = alignmentBytes == 1 ? pool.allocate(sizeBytes) : pool.allocate(sizeBytes, alignmentBytes);
            }
        } catch (final DeviceOutOfMemoryException e) {
            failures++;
            checkExhausted(sizeBytes, alignmentBytes, e);
            return;
        }
        final long blockBytes = pool.sizeOf(address);
        assertEquals(0, address & (Math.max(alignmentBytes, GRANULE) - 1), "alignment");
        assertTrue(blockBytes >= sizeBytes, "size");
        checkHandedOut(address, blockBytes, stream == NO_STREAM ? NO_STREAM : device.numberOf(stream));
        live.put(address, blockBytes);
        allocations++;
    }

    private void checkExhausted(
            final long sizeBytes, final long alignmentBytes, final DeviceOutOfMemoryException thrown) {
        final PoolStatistics statistics = pool.statistics();
        assertEquals(sizeBytes, thrown.requestedBytes());
        final long neededBytes = roundUp(sizeBytes) + (alignmentBytes > GRANULE ? alignmentBytes : 0);
        // The pool need not wait either if what is in use leaves no room, whatever comes back.
        assertTrue(
                capturing || statistics.limboBytes() == 0 || statistics.usedBytes() + neededBytes > LIMIT_BYTES,
                () -> "not all was waited for: " + statistics);
        assertTrue(statistics.heldBytes() + neededBytes > LIMIT_BYTES, () -> "it could grow: " + statistics);
        assertTrue(pool.largestFreeBlockBytes() < neededBytes, () -> "it could be placed: " + statistics);
    }

    private void checkHandedOut(final long address, final long sizeBytes, final long stream) {
        final Map.Entry<Long, Long> before = live.lowerEntry(address + sizeBytes);
        assertTrue(before == null || before.getKey() + before.getValue() <= address, "overlaps a block in use");
        for (final Freed freed : List.copyOf(pending)) {
            if (finished(freed)) {
                pending.remove(freed);
            } else if (freed.address < address + sizeBytes && address < freed.address + freed.sizeBytes) {
                if (freed.stream == NO_STREAM || freed.stream != stream) {
                    throw new HazardError(freed + " was handed out, for stream " + stream);
                }
                pending.remove(freed);
            }
        }
    }

    private boolean finished(final Freed freed) {
        return device.haveFinished(freed.workBefore);
    }

    private void free(final int pick, final long stream) {
        if (live.isEmpty()) {
            return;
        }
        final long address = pick(pick);
        if (stream == NO_STREAM) {
            pool.free(address);
        } else {
            pool.freeAsync(address, stream);
        }
        final long sizeBytes = requireNonNull(live.remove(address));
        final boolean ordered = policy == ReusePolicy.STREAM_ORDERED && stream != NO_STREAM;
        final Map<Long, Long> all = device.work();
        final long number = ordered ? device.numberOf(stream) : NO_STREAM;
        pending.add(
                new Freed(address, sizeBytes, number, ordered ? Map.of(number, all.getOrDefault(number, 0L)) : all));
        everFreed.put(address, sizeBytes);
    }

    private void freeTwice(final int pick) {
        if (!live.isEmpty()) {
            final long address = pick(pick);
            free(pick, NO_STREAM);
            final PoolStatistics before = pool.statistics();
            assertThrows(InvalidAddressException.class, () -> pool.free(address));
            assertThrows(InvalidAddressException.class, () -> pool.sizeOf(address));
            assertThrows(InvalidAddressException.class, () -> pool.trim(address, 1));
            assertThrows(InvalidAddressException.class, () -> pool.extend(address, 1L << 40));
            assertEquals(before, pool.statistics());
        }
    }

    private void extend(final Operation operation) {
        if (!live.isEmpty()) {
            final long address = pick(operation.pick());
            final long before = requireNonNull(live.get(address));
            final long wanted = before + operation.sizeBytes();
            if (pool.extend(address, wanted)) {
                checkHandedOut(address + before, roundUp(wanted) - before, NO_STREAM);
                live.put(address, roundUp(wanted));
            }
        }
    }

    /** Trims a block; unfinished work may use the tail, like a block that is freed. */
    private void trim(final Operation operation) {
        if (!live.isEmpty()) {
            final long address = pick(operation.pick());
            final long before = requireNonNull(live.get(address));
            final long kept = roundUp(Math.min(before, operation.sizeBytes()));
            pool.trim(address, kept);
            live.put(address, kept);
            if (kept < before && policy != ReusePolicy.IMMEDIATE) {
                pending.add(new Freed(address + kept, before - kept, NO_STREAM, device.work()));
                everFreed.put(address + kept, before - kept);
            }
        }
    }

    private long pick(final int pick) {
        return new ArrayList<>(live.keySet()).get(pick % live.size());
    }

    /** Compares statistics and blocks with those of the model. */
    void check() {
        final PoolStatistics statistics = pool.statistics();
        final long usedBytes = live.values().stream().mapToLong(Long::longValue).sum();
        peakBytes = Math.max(peakBytes, usedBytes);
        final TreeMap<Long, Long> shown = new TreeMap<>();
        final long[] bytes = new long[2];
        pool.forEachBlock((address, sizeBytes, free) -> {
            bytes[free ? 1 : 0] += sizeBytes;
            if (!free) {
                shown.put(address, sizeBytes);
            }
        });
        live.forEach((address, sizeBytes) -> assertEquals(sizeBytes, shown.remove(address), "a block in use"));
        shown.forEach((address, sizeBytes) -> assertEquals(everFreed.get(address), sizeBytes, "a block in limbo"));
        final long limboBytes = bytes[0] - usedBytes;
        assertEquals(shown.values().stream().mapToLong(Long::longValue).sum(), limboBytes);
        if (policy == ReusePolicy.IMMEDIATE) {
            assertEquals(0, limboBytes);
        }
        final long heldBytes = (1L << 40) - source.availableBytes();
        assertEquals(bytes[0] + bytes[1], heldBytes, "bytes of all blocks");
        assertTrue(heldBytes <= LIMIT_BYTES);
        assertEquals(
                new PoolStatistics(
                        source.regionsOut(),
                        heldBytes,
                        LIMIT_BYTES,
                        usedBytes,
                        limboBytes,
                        // The peak may have been higher within a step.
                        Math.max(peakBytes, statistics.peakUsedBytes()),
                        live.size(),
                        allocations,
                        // With IMMEDIATE, the pool only waits before memory goes back, not for limbo.
                        policy == ReusePolicy.IMMEDIATE ? 0 : device.synchronizations(),
                        // The model doesn't know how the pool came to these numbers.
                        statistics.mappings(),
                        statistics.movedBytes(),
                        failures,
                        0),
                statistics);
        peakBytes = statistics.peakUsedBytes();
    }

    /** Ends the program; everything must come back. */
    void end() {
        capture(false);
        while (!live.isEmpty()) {
            free(0, streams[0]);
        }
        device.finishAll();
        assertEquals(0, pool.trimTo(0));
        check();
        assertEquals(1L << 40, source.availableBytes());
        assertEquals(0, device.marksOut());
        pool.close();
        assertEquals(0, source.regionsOut());
    }

    private static long roundUp(final long bytes) {
        return (bytes + GRANULE - 1) & -GRANULE;
    }
}
