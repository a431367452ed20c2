package io.outboard.pool;

import static io.outboard.pool.internal.guard.JavaRuntime.LOGGER;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.lang.ref.Cleaner.Cleanable;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The leak tracker reports the buffers of a pool that were collected without being closed, and frees them if asked.
 * Safe for any number of threads.
 *
 * <p>Each tracker has a cleaner, and so a thread, of its own: freeing may mean waiting for the device, which mustn't
 * hold up the leaks of another pool. The thread ends some time after the pool and its buffers are gone.
 */
final class LeakTracker {

    /** The number of buffers of which one has its stack taken at {@link LeakLevel#SAMPLED}. */
    private static final int SAMPLE = 64;

    private static final String OWN_PACKAGES = "io.outboard.";

    private final String label;
    private final LeakLevel level;
    private final BooleanSupplier isClosed;
    private final @Nullable LongConsumer reclaim;
    private final Cleaner cleaner = Cleaner.create(task -> {
        final Thread thread = new Thread(task, "outboard-leaks");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * The stacks that buffers were allocated at, by address. They aren't decoded before somebody asks. A stack is
     * removed before its block is freed, so that the removal can't hit the stack of the next owner.
     */
    private final ConcurrentHashMap<Long, Throwable> sites = new ConcurrentHashMap<>();

    private final LongAdder leaks = new LongAdder();

    /** Makes a tracker that frees what is lost, unless {@code reclaim} is null. */
    LeakTracker(
            final String label,
            final LeakLevel level,
            final BooleanSupplier isClosed,
            final @Nullable LongConsumer reclaim) {
        this.label = label;
        this.level = level;
        this.isClosed = isClosed;
        this.reclaim = reclaim;
    }

    /** Answers the call that allocated what is at an address now; null if that isn't known. */
    @Nullable
    String siteAt(final long address) {
        return lineOf(sites.get(address));
    }

    /** Answers the program's call at which a stack was taken; null if that isn't known. */
    static @Nullable String lineOf(final @Nullable Throwable site) {
        if (site == null) {
            return null;
        }
        final StackTraceElement[] stack = ofCaller(site).getStackTrace();
        return stack.length == 0 ? null : stack[0].toString();
    }

    long leaks() {
        return leaks.sum();
    }

    /**
     * An entry notices if its buffer is collected before {@link #end}. It doesn't refer to the buffer, which would
     * never be collected otherwise.
     */
    final class Entry implements Runnable {

        /** The address, boxed from the start: when the buffer is closed, the host may have no memory for the box. */
        private final Long address;

        private final long sizeBytes;
        private final @Nullable Throwable site;
        private final Cleanable cleanable;

        /**
         * True once the entry is ended. The field needs no order: the thread that ends an entry runs it itself, since
         * the cleaner's thread doesn't get to it while the buffer can be reached, which a fence sees to.
         */
        private boolean ended;

        Entry(final Object buffer, final long address, final long sizeBytes) {
            this.address = address;
            this.sizeBytes = sizeBytes;
            final boolean sampled =
                    level == LeakLevel.ALL || ThreadLocalRandom.current().nextInt(SAMPLE) == 0;
            site = sampled ? new Throwable("allocated here") : null;
            try {
                if (site != null) {
                    sites.put(address, site);
                }
                cleanable = cleaner.register(buffer, this);
            } catch (final OutOfMemoryError e) {
                // The caller frees the block now, so the address may get another owner.
                forget();
                throw e;
            }
        }

        /**
         * Ends the entry, once, while the buffer can be reached and before its block is freed: the buffer can't be lost
         * any more.
         */
        void end() {
            ended = true;
            cleanable.clean();
        }

        private void forget() {
            if (site != null) {
                sites.remove(address, site);
            }
        }

        /** Reports the buffer, unless it was closed. The cleaner's thread would swallow what is thrown. */
        @Override
        public void run() {
            forget();
            // The block of a closed pool went with its region, and close said so.
            if (ended || isClosed.getAsBoolean()) {
                return;
            }
            leaks.increment();
            String fate = "it stays in use";
            Level severity = Level.WARNING;
            if (reclaim != null) {
                try {
                    reclaim.accept(address);
                    fate = "it is freed now";
                } catch (final RuntimeException | OutOfMemoryError e) {
                    fate = "freeing it failed: " + e;
                    severity = Level.ERROR;
                }
            }
            final String message = label + ": a buffer was collected without having been closed, "
                    + new Holder(address, sizeBytes) + "; " + fate;
            LOGGER.log(severity, message, site == null ? null : ofCaller(site));
        }
    }

    /** Cuts what this project did off the top of a stack, unless it did all. */
    private static Throwable ofCaller(final Throwable site) {
        final StackTraceElement[] calls = Arrays.stream(site.getStackTrace())
                .dropWhile(call -> call.getClassName().startsWith(OWN_PACKAGES))
                .toArray(StackTraceElement[]::new);
        if (calls.length > 0) {
            site.setStackTrace(calls);
        }
        return site;
    }
}
