package io.outboard.cuda.internal.facade;

import io.outboard.cuda.internal.memory.ContextMemorySource;
import io.outboard.cuda.internal.memory.ContextWork;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.cuda.internal.memory.VirtualMemoryCalls;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** This class makes the facade's pools: their size and their memory's source. Safe for any number of threads. */
public final class PoolMaker {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    /** The divisor of the device's free memory that gives the first region, where a pool grows by whole regions. */
    private static final long FIRST_REGIONS = 32;

    /** The size of the first region where a pool grows in place. */
    private static final long FIRST_BYTES = 64L << 20;

    /** The files to which this process has recorded. */
    private static final Set<Path> RECORDINGS = ConcurrentHashMap.newKeySet();

    /** The end of the name of the first device's pool, which is recorded to the requested file itself. */
    private static final String FIRST_DEVICE = "device0";

    /** The most numbers that are tried for the name of a pool or of a recording. */
    private static final int MOST_OF_A_NAME = 100;

    /** These are the options of a pool; {@code OutboardOptions} says what each option means, and what null means. */
    public interface Options {

        /** {@return the name of the strategy that divides regions} */
        String strategy();

        /** {@return most that a pool holds, as a share of what is free when the pool is made} */
        double share();

        /** {@return when freed memory may be handed out again} */
        ReusePolicy reuse();

        /** {@return whether a free waits for the context} */
        boolean freeIsBarrier();

        /** {@return bytes of the first region, 0 for what suits the way of growing} */
        long firstRegionBytes();

        /** {@return whether memory grows in place} */
        boolean growInPlace();

        /** {@return how long memory is kept that isn't needed, 0 for no limit} */
        Duration keep();

        /** {@return bytes that are left to others, 0 for nothing} */
        long leaveBytes();

        /** {@return bytes held beyond what is in use, null for what suits the device} */
        @Nullable
        Long slackBytes();

        /** {@return where JMX clients may write dumps, null for nowhere} */
        @Nullable
        Path dumpFolder();

        /** {@return the socket of the lender, null for none} */
        @Nullable
        Path service();

        /** {@return the name by which the lender knows the quota, null for one of this process} */
        @Nullable
        String serviceName();

        /** {@return whether writes behind the end of a block and after its free are looked for} */
        boolean checksMemory();

        /** {@return the file that allocations and frees are written to, null for none} */
        @Nullable
        Path record();
    }

    private final Supplier<Optional<VirtualMemoryCalls>> virtualMemory;
    private final LeasedMemory.Door lender;

    PoolMaker(final Supplier<Optional<VirtualMemoryCalls>> virtualMemory, final LeasedMemory.Door lender) {
        this.virtualMemory = virtualMemory;
        this.lender = lender;
    }

    /** Makes a pool. The name, null for none, gets a number if another pool has it. Throws if no memory is lent. */
    ContextPool make(final @Nullable String name, final CudaContext context, final Options options) {
        final ContextMemorySource source = source(context, options);
        ContextWork work = null;
        Pool pool = null;
        try {
            work = new ContextWork(context);
            pool = pool(name, source, work, options);
            return new ContextPool(
                    context, source, work, pool, options.reuse() != ReusePolicy.IMMEDIATE, options.freeIsBarrier());
        } catch (final RuntimeException | Error e) {
            if (pool != null) {
                pool.close();
            }
            source.close();
            if (work != null) {
                work.close();
            }
            throw e;
        }
    }

    private ContextMemorySource source(final CudaContext context, final Options options) {
        final Path socket = options.service();
        if (socket == null) {
            return new ContextMemorySource(context, options.growInPlace() ? virtualMemory : Optional::empty);
        }
        final String name = options.serviceName();
        try {
            final LeasedMemory leased = lender.connect(
                    socket, name == null ? "pid-" + ProcessHandle.current().pid() : name, context.device());
            return new ContextMemorySource(context, leased, options.growInPlace());
        } catch (final IOException e) {
            throw new IllegalStateException("outboard.service=" + socket + " can't be used: " + e.getMessage(), e);
        }
    }

    /** Makes the pool over a source; JMX and recordings show the pool by its name. */
    private static Pool pool(
            final @Nullable String name,
            final ContextMemorySource source,
            final ContextWork work,
            final Options options) {
        final long availableBytes = source.availableBytes();
        final long goodBytes =
                source.growsInPlace() ? Math.min(FIRST_BYTES, availableBytes) : availableBytes / FIRST_REGIONS;
        final long firstBytes = options.firstRegionBytes() == 0 ? goodBytes : options.firstRegionBytes();
        final Supplier<PoolBuilder> description = () -> {
            final PoolBuilder builder = Pool.over(source)
                    .strategy(options.strategy())
                    .reuse(options.reuse(), work)
                    .firstRegionBytes(Math.max(1, firstBytes))
                    .limitBytes(Math.max(1, (long) (availableBytes * options.share())))
                    // A pool doesn't grow ahead over a lender, since other clients would lack the memory, nor by whole
                    // regions.
                    .growAhead(options.service() == null && source.growsInPlace());
            if (!options.keep().isZero()) {
                builder.keep(options.keep(), 0);
            }
            if (options.leaveBytes() > 0) {
                builder.leave(options.leaveBytes());
            }
            if (options.slackBytes() != null) {
                builder.slackBytes(options.slackBytes());
            }
            if (options.checksMemory()) {
                // The program goes on, as with other checkers.
                builder.check(Throwable::printStackTrace);
            }
            final Path dumpFolder = options.dumpFolder();
            return dumpFolder == null ? builder : builder.dumpFolder(dumpFolder);
        };
        return name == null ? description.get().build() : named(description, name, options.record());
    }

    /**
     * Adds a number to the name if a pool of another context or of the program has the name. If no number helps, the
     * pool has no name.
     */
    private static Pool named(
            final Supplier<PoolBuilder> description, final String name, final @Nullable Path recording) {
        for (int number = 1; number <= MOST_OF_A_NAME; number++) {
            final String numbered = number == 1 ? name : name + "-" + number;
            try {
                final Pool pool = description.get().name(numbered).build();
                if (recording != null) {
                    record(pool, numbered, recording);
                }
                return pool;
            } catch (final IllegalStateException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "a pool can't have its name", e);
            }
        }
        return description.get().build();
    }

    /**
     * Records a pool until the pool is closed, or its context or the process ends; a failure is logged. The file's name
     * gets a number if another process records to the file, or if another pool of this process did, for example before
     * a reset of the device.
     */
    private static void record(final Pool pool, final String name, final Path recording) {
        try {
            final Path named = ofProcess(recording);
            final Path first =
                    name.endsWith(FIRST_DEVICE) ? named : named.resolveSibling(named.getFileName() + "." + name);
            Path file = first;
            for (int number = 2; !isRecordedTo(file, pool); number++) {
                if (number > MOST_OF_A_NAME) {
                    throw new AccessDeniedException(file.toString(), null, "nor is any name before it free");
                }
                file = first.resolveSibling(first.getFileName() + "." + number);
            }
            if (file != recording) {
                LOGGER.log(System.Logger.Level.INFO, "pool " + name + " is recorded to " + file);
            }
        } catch (final IOException | IllegalStateException | OutOfMemoryError e) {
            LOGGER.log(System.Logger.Level.WARNING, "pool " + name + " isn't recorded: " + e);
        }
    }

    /** Begins to record, and answers true, unless the file belongs to another pool or another process. */
    private static boolean isRecordedTo(final Path file, final Pool pool) throws IOException {
        final Path begun = file.toAbsolutePath().normalize();
        if (!RECORDINGS.add(begun)) {
            return false;
        }
        boolean done = false;
        try {
            pool.record(file);
            done = true;
        } catch (final AccessDeniedException e) {
            // The file belongs to another process; the next name may be free.
        } finally {
            if (!done) {
                RECORDINGS.remove(begun);
            }
        }
        return done;
    }

    /** Replaces {@code %p} by the process's number, {@code %t} by the time, {@code %%} by {@code %}, as JFR does. */
    private static Path ofProcess(final Path recording) {
        final String time =
                DateTimeFormatter.ofPattern("uuuu_MM_dd_HH_mm_ss").format(LocalDateTime.now(ZoneId.systemDefault()));
        final String name = Pattern.compile("%([pt%])")
                .matcher(recording.toString())
                .replaceAll(found -> switch (found.group(1)) {
                    case "p" -> Long.toString(ProcessHandle.current().pid());
                    case "t" -> time;
                    default -> "%";
                });
        return name.equals(recording.toString()) ? recording : Path.of(name);
    }
}
