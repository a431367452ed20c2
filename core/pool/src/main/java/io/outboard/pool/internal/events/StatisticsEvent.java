package io.outboard.pool.internal.events;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/**
 * How a pool is, told once a second while that is recorded.
 *
 * <p>Confined to one thread. Public for the pool's other packages, not for applications.
 */
@Name("io.outboard.PoolStatistics")
@Label("Pool Statistics")
@Description("How a pool is")
@Period("1 s")
@StackTrace(false)
public final class StatisticsEvent extends PoolEvents.PoolEvent {

    @Label("Policy")
    @Description("When a freed block may be handed out again")
    public String policy = "";

    @Label("Strategy")
    @Description("What divides regions")
    public String strategy = "";

    @Label("Regions")
    public int regions;

    @Label("Held")
    @DataAmount
    public long heldBytes;

    @Label("Limit")
    @Description("Most that the pool may hold; -1 if only the device limits it")
    @DataAmount
    public long limitBytes;

    @Label("In Use")
    @DataAmount
    public long usedBytes;

    @Label("Limbo")
    @Description("Freed, but possibly still in use by the device")
    @DataAmount
    public long limboBytes;

    @Label("Free")
    @DataAmount
    public long freeBytes;

    @Label("Peak in Use")
    @DataAmount
    public long peakUsedBytes;

    @Label("Live Blocks")
    public long liveBlocks;

    @Label("Allocations")
    @Description("Blocks handed out so far")
    public long allocations;

    @Label("Synchronizations")
    @Description("How often the pool waited for the device so far")
    public long synchronizations;

    @Label("Mappings")
    @Description("How often memory was taken, moved or given back so far")
    public long mappings;

    @Label("Moved")
    @Description("Memory that moved so far")
    @DataAmount
    public long movedBytes;

    @Label("Failures")
    @Description("Requests so far that failed")
    public long failures;

    @Label("Leaks")
    @Description("Buffers so far that were collected without having been closed")
    public long leaks;

    StatisticsEvent(final String pool) {
        super(pool);
    }
}
