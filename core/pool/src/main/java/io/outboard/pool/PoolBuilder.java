package io.outboard.pool;

import static io.outboard.pool.internal.guard.JavaRuntime.LOGGER;
import static java.lang.System.Logger.Level.WARNING;

import io.outboard.core.MemorySource;
import io.outboard.core.StrategyOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A pool builder describes a {@link Pool}. Methods throw {@link IllegalArgumentException} if an argument is outside of
 * its range. Confined to one thread.
 */
public final class PoolBuilder {

    /** The limit that stands for none, since nothing is larger. */
    static final long NO_LIMIT = 1L << 62;

    private static final AtomicBoolean HAS_TOLD_OF_TRACKED = new AtomicBoolean();

    /** The most blocks that the tables of one region can hold. */
    private static final int MOST_BLOCKS = 1 << 26;

    private static final Duration LEAST_KEPT = Duration.ofMillis(1);
    private static final Duration MOST_KEPT = Duration.ofDays(1000);

    final MemorySource source;
    DeviceWork work;
    String strategy = "tlsf";
    StrategyOptions strategyOptions =
            StrategyOptions.DEFAULTS.withMaxBlocks(MOST_BLOCKS).growing(StrategyOptions.DEFAULTS.maxBlocks());
    ReusePolicy policy;
    long firstRegionBytes = 64L << 20;
    long limitBytes = NO_LIMIT;
    boolean growInPlace = true;
    long limboLimitBytes = Long.MAX_VALUE;
    long slackBytes = HeldBytes.DEFAULT_SLACK;

    /** How long idle memory is kept, in nanoseconds; without end if nobody has said. */
    long keptNanos = Long.MAX_VALUE;

    long keptBytes;
    long leftBytes;
    boolean growAhead;

    @Nullable
    String name;

    /** The folder into which JMX clients may write dumps; null if they may write none. */
    @Nullable
    Path dumpFolder;

    /** The number of arenas that there are from the start, with threads spread over them; 0 for one. */
    int spreadArenas;

    @Nullable
    PoolListener listener;

    LeakLevel leakLevel = LeakLevel.OFF;
    boolean reclaimLeaks;

    private @Nullable Consumer<? super MemoryCorruptionException> corruptionHandler;

    PoolBuilder(final MemorySource source) {
        this.source = Objects.requireNonNull(source, "source");
        policy = source instanceof DeviceMemorySource ? ReusePolicy.STRICT : ReusePolicy.IMMEDIATE;
        work = source instanceof DeviceMemorySource device ? device.work() : DeviceWork.NONE;
    }

    /**
     * Sets when freed blocks may be handed out again, by what the source says of its device's work.
     *
     * @param newPolicy the policy; by default {@link ReusePolicy#STRICT} over a {@link DeviceMemorySource}, and {@link
     *     ReusePolicy#IMMEDIATE} over any other
     * @return this builder
     */
    public PoolBuilder reuse(final ReusePolicy newPolicy) {
        return reuse(newPolicy, work);
    }

    /**
     * Does what {@link #reuse(ReusePolicy)} does, by what somebody else than the source says of the device's work.
     *
     * @param newPolicy the policy
     * @param newWork tells it what the device has finished; {@link DeviceWork#NONE} for {@link ReusePolicy#IMMEDIATE}
     * @return this builder
     */
    public PoolBuilder reuse(final ReusePolicy newPolicy, final DeviceWork newWork) {
        policy = Objects.requireNonNull(newPolicy, "newPolicy");
        work = Objects.requireNonNull(newWork, "newWork");
        return this;
    }

    /**
     * Sets the algorithm that divides regions, with granules of 256 bytes and tables that hold 229,000 blocks of a
     * region and grow beyond.
     *
     * @param newStrategy name of a strategy; {@code tlsf} by default, {@code planned:FILE} for one that follows a plan,
     *     see {@link Pool#step}
     * @return this builder
     */
    public PoolBuilder strategy(final String newStrategy) {
        return strategy(newStrategy, strategyOptions);
    }

    /**
     * Does what {@link #strategy(String)} does, with other granules and tables.
     *
     * @param newStrategy name of a strategy
     * @param newOptions granule and table sizes, for each region
     * @return this builder
     */
    public PoolBuilder strategy(final String newStrategy, final StrategyOptions newOptions) {
        strategy = Objects.requireNonNull(newStrategy, "newStrategy");
        strategyOptions = Objects.requireNonNull(newOptions, "newOptions");
        return this;
    }

    /**
     * Sets the size of the first region, which is taken with the first block, and the least that one grows by in place.
     *
     * @param bytes {@code 0 < bytes <= 2^62}, 64 MiB by default; rounded up to 2 MiB where the limit allows
     * @return this builder
     */
    public PoolBuilder firstRegionBytes(final long bytes) {
        firstRegionBytes = checkBytes("firstRegionBytes", bytes, 1);
        return this;
    }

    /**
     * Sets the most that the pool may hold; of a region that grows in place, what is committed counts. A single block
     * as large as the limit is served, though that may take two granules more.
     *
     * @param bytes {@code 0 < bytes <= 2^62}, which is no limit but the device's and the default
     * @return this builder
     */
    public PoolBuilder limitBytes(final long bytes) {
        limitBytes = checkBytes("limitBytes", bytes, 1);
        return this;
    }

    /**
     * Sets whether to hold one region that grows and shrinks in place, rather than whole regions, where the source can
     * and the strategy begins at low addresses ({@link io.outboard.core.StrategyProvider#placesLow}). Turn it off if
     * blocks are shared with other processes by {@code cudaIpcGetMemHandle}, which the driver refuses for such memory.
     *
     * @param newGrowInPlace true to do so, the default
     * @return this builder
     */
    public PoolBuilder growInPlace(final boolean newGrowInPlace) {
        growInPlace = newGrowInPlace;
        return this;
    }

    /**
     * Sets how long memory is kept that no block needs, before it goes back as by {@link Pool#trimTo}; without this
     * call it is kept. Once in that time the pool keeps an eighth more than was needed since the last time, and gives
     * the rest back unless that is less than an eighth. It costs a thread, which waits for the device when it gives
     * memory back, as do threads for which the pool must grow meanwhile.
     *
     * @param newKept from a millisecond to a thousand days
     * @param newKeptBytes what is kept in any case, {@code 0 <= newKeptBytes <= 2^62}
     * @return this builder
     */
    public PoolBuilder keep(final Duration newKept, final long newKeptBytes) {
        if (newKept.compareTo(LEAST_KEPT) < 0 || newKept.compareTo(MOST_KEPT) > 0) {
            throw new IllegalArgumentException("newKept=" + newKept + " must be >= 1 ms and <= 1000 days");
        }
        keptBytes = checkBytes("newKeptBytes", newKeptBytes, 0);
        keptNanos = newKept.toNanos();
        return this;
    }

    /**
     * Sets whether a thread of the pool takes the next step of memory ahead of need, so that fewer requests wait for
     * the driver, which takes about a millisecond. It does so for arenas that have little free, as long as the pool
     * then holds no more than its slack. It has no effect under {@link ReusePolicy#IMMEDIATE}, with a slack of 0, or
     * where regions don't grow in place. It costs one daemon thread, which {@link #keep} and {@link #leave} use, too.
     *
     * @param newGrowAhead false, the default, if the thread that needs memory is to take it
     * @return this builder
     */
    public PoolBuilder growAhead(final boolean newGrowAhead) {
        growAhead = newGrowAhead;
        return this;
    }

    /**
     * Sets how much must be left to others on the device. While the device reports less as free, free memory of the
     * pool goes back as by {@link Pool#trimTo}, down to what {@link #keep} keeps in any case. The pool looks ten times
     * a second, on the same thread, and goes on taking what it needs.
     *
     * @param bytes {@code 0 < bytes <= 2^62}; without this call nothing is left
     * @return this builder
     */
    public PoolBuilder leave(final long bytes) {
        leftBytes = checkBytes("bytes", bytes, 1);
        return this;
    }

    /**
     * Sets what the pool may hold beyond what is in use before a request asks the device whether freed blocks can be
     * used again. Less slack is less memory and more questions, of a microsecond each. Frees ask before, see {@link
     * #limboLimitBytes}.
     *
     * @param bytes {@code 0 <= bytes <= 2^62}; by default a 128th of what limit and device allow, at least 64 MiB and
     *     at most 2 GiB, but never more than an eighth of what they allow
     * @return this builder
     */
    public PoolBuilder slackBytes(final long bytes) {
        slackBytes = checkBytes("bytes", bytes, 0);
        return this;
    }

    /**
     * Sets the most that may be in limbo before the device is asked though memory isn't needed; it is divided among
     * arenas. By default it follows from the slack, and from what each arena has in use and unused.
     *
     * @param bytes {@code 0 < bytes <= 2^62}
     * @return this builder
     */
    public PoolBuilder limboLimitBytes(final long bytes) {
        limboLimitBytes = checkBytes("limboLimitBytes", bytes, 1);
        return this;
    }

    /**
     * Sets what the pool is called in its messages, dumps and JFR events. Until it is closed it is registered with the
     * platform's MBean server as {@code io.outboard:type=Pool,name=...}, a {@link PoolMXBean}.
     *
     * @param newName at least one of ASCII letters, digits, {@code .}, {@code _} and {@code -}, such as {@code gpu0}
     * @return this builder
     */
    public PoolBuilder name(final String newName) {
        if (!newName.matches("[A-Za-z0-9._-]+")) {
            throw new IllegalArgumentException("newName=" + newName + " must consist of letters, digits, . _ and -");
        }
        name = newName;
        return this;
    }

    /**
     * Lets JMX clients write dumps into this folder and nowhere else; without it {@link PoolMXBean#dump} refuses.
     *
     * @param folder it must exist when a dump is written; whoever may write into it must be trusted not to put links
     *     there
     * @return this builder
     */
    public PoolBuilder dumpFolder(final Path folder) {
        dumpFolder = Objects.requireNonNull(folder, "folder").toAbsolutePath();
        return this;
    }

    /**
     * Sets what hears of each block that the pool hands out, takes back or resizes, for tests and tools.
     *
     * @param newListener the listener; none by default
     * @return this builder
     */
    public PoolBuilder listener(final PoolListener newListener) {
        listener = Objects.requireNonNull(newListener, "newListener");
        return this;
    }

    /**
     * Sets what is done to find {@link DeviceBuffer}s that nobody closed.
     *
     * @param newLevel how much; {@link LeakLevel#OFF} is the default
     * @return this builder
     */
    public PoolBuilder leakLevel(final LeakLevel newLevel) {
        leakLevel = Objects.requireNonNull(newLevel, "newLevel");
        return this;
    }

    /**
     * Makes the pool free the {@link DeviceBuffer}s that were collected without having been closed, once it has
     * reported them; without that they stay in use. It frees as {@link Pool#free} does; under {@link
     * ReusePolicy#IMMEDIATE} that doesn't wait for work that is still using the buffer.
     *
     * @return this builder
     */
    public PoolBuilder reclaimLeaks() {
        reclaimLeaks = true;
        return this;
    }

    /**
     * Makes the pool look for writes behind the end of a block and after its free. Behind each block lies a red zone of
     * 512 bytes or more, which is verified when the block is freed or resized. Freed memory is filled, and verified
     * when it is handed out again or leaves the pool. {@link Pool#close} and {@link Pool#checkMemory} verify all. A
     * block is also filled when it is allocated: its floats are NaN, its integers -1. A write of the very bytes that are there isn't
     * noticed, nor is anything of blocks that are allocated, freed or resized while a stream is captured.
     *
     * <p>This is for finding faults: a free waits for the work that may use the block, as {@code cudaFree} does, and
     * each allocation and free fills memory, and copies freed memory to the host. {@link Pool#trim} keeps the tail.
     * Statistics, dumps and exceptions count red zones as parts of blocks.
     *
     * @param handler is told what is found, on the thread whose call finds it, which may have nothing to do with the
     *     block. What the handler throws, that call throws when it has freed or resized its block, or closed the pool;
     *     an allocation then hands out nothing. {@code found -> { throw found; }} is a handler that does that. What
     *     is found while idle memory goes back is reported by the program's next call that may find something. What the
     *     handler throws while a buffer is freed that was forgotten goes to the logger alone
     * @return this builder
     */
    public PoolBuilder check(final Consumer<? super MemoryCorruptionException> handler) {
        corruptionHandler = Objects.requireNonNull(handler, "handler");
        return this;
    }

    /** Makes the check of memory; null if there is to be none. */
    @Nullable
    PoisonCheck poisonCheck() {
        return corruptionHandler != null && source instanceof AccessibleMemorySource memory
                ? new PoisonCheck(label(), memory, workOnMemory(), corruptionHandler)
                : null;
    }

    /**
     * Answers what knows the work on the memory: with {@link ReusePolicy#IMMEDIATE} the pool may have been told of no
     * work, or of another device's.
     */
    DeviceWork workOnMemory() {
        return policy == ReusePolicy.IMMEDIATE && source instanceof DeviceMemorySource device ? device.work() : work;
    }

    /** Answers what doesn't change of the pool, which events call by a name of their own. */
    Diagnosis.Facts facts(final String eventName) {
        return new Diagnosis.Facts(
                name,
                label(),
                eventName,
                policy.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                strategy,
                limitBytes == NO_LIMIT ? PoolStatistics.NO_LIMIT : limitBytes);
    }

    /** Returns what messages call the pool. */
    String label() {
        return name == null ? "unnamed pool" : "pool " + name;
    }

    /** Spreads threads over arenas from the start, for tests, whose threads then needn't contend first. */
    PoolBuilder spread(final int arenas) {
        spreadArenas = arenas;
        return this;
    }

    /**
     * Makes the pool, which holds nothing yet.
     *
     * @return a new pool
     * @throws IllegalArgumentException if no strategy has that name, if leaks are to be reclaimed though the leak level
     *     is {@link LeakLevel#OFF}, if memory is to be checked though the source isn't an {@link
     *     AccessibleMemorySource}, or if the policy isn't {@link ReusePolicy#IMMEDIATE} over a {@link
     *     DeviceMemorySource} whose work is to be that of {@link DeviceWork#NONE}: it would hand blocks on that kernels
     *     still use
     * @throws IllegalStateException if another pool that is open has the name
     */
    public Pool build() {
        if (reclaimLeaks && leakLevel == LeakLevel.OFF) {
            throw new IllegalArgumentException("leakLevel=OFF must be another level for leaks to be reclaimed");
        }
        if (source instanceof DeviceMemorySource && policy != ReusePolicy.IMMEDIATE && work == DeviceWork.NONE) {
            throw new IllegalArgumentException(
                    "newWork=NONE must be what the device has finished, with newPolicy=" + policy + " over a device");
        }
        if (corruptionHandler != null && !(source instanceof AccessibleMemorySource)) {
            throw new IllegalArgumentException(
                    "source=" + source + " must be an AccessibleMemorySource for its memory to be checked");
        }
        if (policy == ReusePolicy.TRACKED && !HAS_TOLD_OF_TRACKED.getAndSet(true)) {
            LOGGER.log(WARNING, "the reuse policy tracked is an older name of strict");
        }
        final Pool pool = new Pool(this);
        pool.start(dumpFolder);
        return pool;
    }

    private static long checkBytes(final String name, final long bytes, final long leastBytes) {
        if (bytes < leastBytes || bytes > NO_LIMIT) {
            throw new IllegalArgumentException(
                    name + "=" + bytes + " must be " + (leastBytes == 0 ? ">= 0" : "> 0") + " and <= 2^62");
        }
        return bytes;
    }
}
