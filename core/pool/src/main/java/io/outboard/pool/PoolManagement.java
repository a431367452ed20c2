package io.outboard.pool;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;

/** A pool's MXBean. Safe for any number of threads. */
final class PoolManagement implements PoolMXBean {

    private final Pool pool;

    private PoolManagement(final Pool pool) {
        this.pool = pool;
    }

    /**
     * Shows a pool to JMX.
     *
     * @throws IllegalStateException if another has the name
     */
    static void register(final Pool pool, final String name) {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(new PoolManagement(pool), objectName(name));
        } catch (final InstanceAlreadyExistsException e) {
            throw new IllegalStateException(
                    "name=" + name + " must not be that of another pool that is open: " + e.getMessage()
                            + " is registered already",
                    e);
        } catch (final JMException e) {
            throw new IllegalStateException("name=" + name + " can't be registered", e);
        }
    }

    static void unregister(final String name) {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(objectName(name));
        } catch (final InstanceNotFoundException e) {
            // Anyone may unregister a bean; it is gone, which is what was wanted.
        } catch (final JMException e) {
            throw new IllegalStateException("name=" + name + " can't be unregistered", e);
        }
    }

    private static ObjectName objectName(final String name) throws JMException {
        return new ObjectName("io.outboard:type=Pool,name=" + name);
    }

    @Override
    public int getRegions() {
        return pool.statistics().regions();
    }

    @Override
    public long getHeldBytes() {
        return pool.statistics().heldBytes();
    }

    @Override
    public long getLimitBytes() {
        return pool.statistics().limitBytes();
    }

    @Override
    public long getUsedBytes() {
        return pool.statistics().usedBytes();
    }

    @Override
    public long getLimboBytes() {
        return pool.statistics().limboBytes();
    }

    @Override
    public long getFreeBytes() {
        return pool.statistics().freeBytes();
    }

    @Override
    public long getPeakUsedBytes() {
        return pool.statistics().peakUsedBytes();
    }

    @Override
    public long getLiveBlocks() {
        return pool.statistics().liveBlocks();
    }

    @Override
    public long getAllocations() {
        return pool.statistics().allocations();
    }

    @Override
    public long getSynchronizations() {
        return pool.statistics().synchronizations();
    }

    @Override
    public long getMappings() {
        return pool.statistics().mappings();
    }

    @Override
    public long getMovedBytes() {
        return pool.statistics().movedBytes();
    }

    @Override
    public void dump(final String path) throws IOException {
        pool.dump(Path.of(path));
    }

    @Override
    public long trimTo(final long bytes) {
        return pool.trimTo(bytes);
    }
}
