package io.outboard.pool;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.regex.Pattern;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/** A pool's MXBean. Safe for any number of threads. */
record PoolManagement(Pool pool, @Nullable Path dumpFolder) implements PoolMXBean {

    private static final Pattern FILE_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");

    /** Shows a pool to JMX. Throws {@link IllegalStateException} if another has the name. */
    static void register(final Pool pool, final String name, final @Nullable Path dumpFolder) {
        try {
            ManagementFactory.getPlatformMBeanServer()
                    .registerMBean(new PoolManagement(pool, dumpFolder), objectName(name));
        } catch (final InstanceAlreadyExistsException e) {
            final String other = "another pool that is open: " + e.getMessage() + " is registered already";
            throw new IllegalStateException("name=" + name + " must not be that of " + other, e);
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
    public long getFailures() {
        return pool.statistics().failures();
    }

    @Override
    public long getLeaks() {
        return pool.statistics().leaks();
    }

    @Override
    public String getPolicy() {
        return pool.diagnosis.policy;
    }

    @Override
    public String getStrategy() {
        return pool.diagnosis.strategy;
    }

    @Override
    public long getLargestFreeBlockBytes() {
        return pool.largestFreeBlockBytes();
    }

    @Override
    public String dump(final String fileName) throws IOException {
        if (dumpFolder == null) {
            throw new IllegalStateException(
                    "no folder for dumps is configured: set PoolBuilder.dumpFolder, or for agent"
                            + " and facades outboard.dumpFolder");
        }
        // A list of what is allowed, since what leads out of a folder differs from system to system.
        if (!FILE_NAME.matcher(fileName).matches()) {
            throw new IllegalArgumentException("fileName=" + fileName
                    + " must be a name without a folder: letters, digits, . _ and -, and no . or - first");
        }
        final Path path = dumpFolder.resolve(fileName);
        pool.dump(path);
        return path.toString();
    }

    @Override
    public long trimTo(final long bytes) {
        return pool.trimTo(bytes);
    }
}
