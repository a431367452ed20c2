package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.pool.simulated.SimulatedDevice;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A memory source with bytes behind its addresses, which are lost when the memory goes back or moves. It refuses
 * accesses where no memory is, as a device does, and does nothing while a stream is captured. Safe for any number of
 * threads.
 */
final class SimulatedMemory implements AccessibleMemorySource {

    private static final int UNIT_BYTES = 1 << 21;
    private static final byte NEVER_WRITTEN = 0x5A;

    private final FailingMemorySource source;
    private final SimulatedDevice device;

    /** The bytes of each unit that was touched, by its number. */
    private final Map<Long, byte[]> units = new HashMap<>();

    /** The whole regions that are out. */
    private final Set<Region> regions = new HashSet<>();

    private long accesses;

    SimulatedMemory(final FailingMemorySource source, final SimulatedDevice device) {
        this.source = source;
        this.device = device;
        source.whenGone(this::lose);
    }

    private synchronized void lose(final long address) {
        units.remove(address / UNIT_BYTES);
    }

    /** Returns how often the memory was filled or read. */
    synchronized long accesses() {
        return accesses;
    }

    synchronized void write(final long address, final int value) {
        unit(address)[(int) (address % UNIT_BYTES)] = (byte) value;
    }

    synchronized byte read(final long address) {
        return unit(address)[(int) (address % UNIT_BYTES)];
    }

    private byte[] unit(final long address) {
        return units.computeIfAbsent(address / UNIT_BYTES, number -> {
            final byte[] fresh = new byte[UNIT_BYTES];
            Arrays.fill(fresh, NEVER_WRITTEN);
            return fresh;
        });
    }

    @Override
    public boolean fill(final long address, final long sizeBytes, final byte value) {
        return access(address, sizeBytes, (unit, from, bytes, done) -> Arrays.fill(unit, from, from + bytes, value));
    }

    @Override
    public boolean read(final long address, final ByteBuffer to) {
        assertTrue(to.isDirect());
        return access(address, to.limit(), (unit, from, bytes, done) -> to.put(done, unit, from, bytes));
    }

    /** Does something with a part of a unit. */
    private interface PartVisitor {
        void visit(byte[] unit, int from, int bytes, int done);
    }

    private boolean access(final long address, final long sizeBytes, final PartVisitor visitor) {
        if (device.isCapturing()) {
            return false;
        }
        synchronized (source) {
            synchronized (this) {
                accesses++;
                assertTrue(
                        source.hasMemory(address, sizeBytes)
                                || regions.stream()
                                        .anyMatch(region -> address >= region.address()
                                                && address + sizeBytes <= region.endAddress()),
                        "there is memory");
                long done = 0;
                while (done < sizeBytes) {
                    final int from = (int) ((address + done) % UNIT_BYTES);
                    final int bytes = (int) Math.min(UNIT_BYTES - from, sizeBytes - done);
                    visitor.visit(unit(address + done), from, bytes, (int) done);
                    done += bytes;
                }
            }
        }
        return true;
    }

    @Override
    public Region take(final long sizeBytes) {
        final Region region = source.take(sizeBytes);
        synchronized (this) {
            regions.add(region);
        }
        return region;
    }

    @Override
    public void giveBack(final Region region) {
        source.giveBack(region);
        synchronized (this) {
            regions.remove(region);
            for (long at = region.address(); at < region.endAddress(); at += UNIT_BYTES) {
                lose(at);
            }
        }
    }

    @Override
    public Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        return source.reserve(bytes, addressBytes);
    }

    @Override
    public long availableBytes() {
        return source.availableBytes();
    }

    @Override
    public void close() {
        source.close();
    }
}
