package examples.onnx;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemorySource;
import io.outboard.core.Region;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;

/** Regions of this machine's memory, for tensors that the CPU works on. Safe for any number of threads. */
public final class HostMemory implements MemorySource {

    private static final long PAGE_BYTES = 4096;

    private final long limitBytes;
    private final Map<Region, Arena> out = new HashMap<>();
    private long takenBytes;

    /**
     * Hands out no more than so much.
     *
     * @param limitBytes most that is out at a time, in bytes
     */
    public HostMemory(final long limitBytes) {
        this.limitBytes = limitBytes;
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes > limitBytes - takenBytes) {
            throw DeviceOutOfMemoryException.ofDevice(sizeBytes, limitBytes - takenBytes, "the limit");
        }
        final Arena arena = Arena.ofShared();
        final Region region = new Region(arena.allocate(sizeBytes, PAGE_BYTES).address(), sizeBytes);
        out.put(region, arena);
        takenBytes += sizeBytes;
        return region;
    }

    @Override
    public synchronized void giveBack(final Region region) {
        final Arena arena = out.remove(region);
        if (arena == null) {
            throw new IllegalArgumentException("region=" + region + " must be one that this source has out");
        }
        takenBytes -= region.sizeBytes();
        arena.close();
    }

    @Override
    public synchronized long availableBytes() {
        return limitBytes - takenBytes;
    }

    @Override
    public synchronized void close() {
        out.values().forEach(Arena::close);
        out.clear();
        takenBytes = 0;
    }
}
