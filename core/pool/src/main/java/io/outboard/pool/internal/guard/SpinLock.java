package io.outboard.pool.internal.guard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A spin lock is a mutual exclusion lock for critical sections of some tens of nanoseconds, which wait for nothing but
 * another such lock.
 *
 * <p>Taking and releasing it costs one compare-and-set and one store, half of what {@code ReentrantLock} costs, whose
 * release has to wake a waiter. Here waiters look for themselves: they spin, then sleep in between, longer each time.
 * So a thread that comes back soon finds the lock still in its cache and keeps it for many operations, which throughput
 * under contention depends on. Such a thread lets a waiter go first that has spun for a while, but not one that sleeps,
 * whose latency is up to a sleep.
 *
 * <p>The holder releases the lock as below, since a {@link StackOverflowError} may come from any call, and writing a
 * field is no call. ({@link #unlock} is cheaper.) That error may leave half a change behind, so whoever changes things
 * notes the error, and everybody later gets a clear exception instead of a wrong block:
 *
 * <pre>{@code
 *   lock.lock();
 *   try {
 *       ...
 *   } catch (StackOverflowError e) {
 *       breakage.cause = e;
 *       throw e;
 *   } finally {
 *       lock.taken = false;
 *   }
 * }</pre>
 *
 * <p>Not reentrant; not bound to a thread. Safe for any number of threads, virtual ones too. Makes no garbage.
 */
public class SpinLock {

    private static final VarHandle TAKEN = Fields.handle(MethodHandles.lookup(), "taken", boolean.class);
    private static final VarHandle WAITING = Fields.handle(MethodHandles.lookup(), "waiting", int.class);

    /**
     * The number of looks before a sleep: for some 2 microseconds, which is many critical sections, and little of a
     * time slice that the holder may be waiting for; for 45 where there are cores for many threads, since the kernel
     * adds some 50 to a sleep; only one where the holder can't run meanwhile.
     */
    private static final int MOST_LOOKS = mostLooks(Runtime.getRuntime().availableProcessors());

    /**
     * The number of looks before others make way. If the others did so at once, two threads would hand the lock and all
     * that it guards from core to core at each operation: with 16 threads and blocks of 16 to 256 MiB that is half as
     * fast (16 cores, 2026-11-27).
     */
    private static final int PATIENT_LOOKS = MOST_LOOKS / 8;

    /**
     * The pauses between two looks, fewer than {@link #PAUSES}: a thread that spins sees that the lock is free before a
     * thread that made way takes it again.
     */
    private static final int PAUSES_BETWEEN = 4;

    /**
     * The pauses of a thread that makes way, half a microsecond or so. A thread that spins gets the lock meanwhile, and
     * one that sleeps holds nobody up.
     */
    private static final int PAUSES = 16;

    private static final long FIRST_SLEEP_NS = 1_000;

    /** The longest sleep, which bounds a waiter's latency. */
    private static final long LONGEST_SLEEP_NS = 100_000;

    /**
     * True while a thread has the lock. The holder writes this field to release the lock after an error; otherwise only
     * {@link #TAKEN} accesses it.
     */
    public volatile boolean taken;

    /** The number of threads that have spun for a while, which others make way for. Only {@link #WAITING} writes it. */
    volatile int waiting;

    protected final Breakage breakage;

    /** How often somebody had to wait. Guarded by this lock. */
    protected int waits;

    /** A breakage tells whether what locks guard may be half changed, or is gone. Safe for any number of threads. */
    public static final class Breakage {

        /** The exception after a close, made ahead, since there may be no host memory for it later. */
        private final Throwable closed = new IllegalStateException("the pool is closed");

        /** What came in the middle of a change, or says that nothing is left. Once it isn't null it never is again. */
        public volatile @Nullable Throwable cause;

        public void close() {
            cause = closed;
        }

        public void refuse() {
            final Throwable because = cause;
            if (because == closed) {
                throw new IllegalStateException(because.getMessage());
            }
            throw new IllegalStateException(
                    "the pool is broken: " + because + " came while it changed its tables; close it", because);
        }
    }

    public SpinLock() {
        this(new Breakage());
    }

    public SpinLock(final Breakage breakage) {
        this.breakage = breakage;
    }

    /** Takes the lock, or throws {@link IllegalStateException} if what it guards may be half changed, or is gone. */
    public final void lock() {
        lockAnyway();
        if (breakage.cause != null) {
            // The lock is released here, since the stack may end at the next call.
            taken = false;
            breakage.refuse();
        }
    }

    /** Takes the lock as {@link #lock} does, also if what it guards is broken: for a thread that ends it. */
    public final void lockAnyway() {
        if (waiting != 0) {
            letOthersGoFirst();
        }
        // The acquire pairs with the release in unlock.
        if (!TAKEN.weakCompareAndSetAcquire(this, false, true)) {
            lockContended();
        }
    }

    private static int mostLooks(final int processors) {
        return processors == 1 ? 1 : processors <= 4 ? 16 : 256;
    }

    /** Takes the lock, or returns false at once if somebody has it, or what it guards is broken. */
    public final boolean tryLock() {
        // Reading first leaves the cache line with its owner.
        return !taken && breakage.cause == null && TAKEN.compareAndSet(this, false, true);
    }

    public final void unlock() {
        // The release pairs with the acquire in lock.
        TAKEN.setRelease(this, false);
    }

    /**
     * A thread that has just had the lock would take it again before waiting threads see that it is free, as long as
     * there is work for it. A thread that needs the locks of all arenas in turn would be held up at each.
     */
    private void letOthersGoFirst() {
        for (int i = 0; i < PAUSES && waiting != 0; i++) {
            Thread.onSpinWait();
        }
    }

    private void lockContended() {
        long sleepNs = FIRST_SLEEP_NS;
        boolean interrupted = false;
        while (!spinForIt()) {
            // A thread that sleeps doesn't count as waiting: others would make way for nobody, at each operation.
            LockSupport.parkNanos(this, sleepNs);
            // An interrupted thread wouldn't sleep.
            interrupted |= Thread.interrupted();
            sleepNs = Math.min(2 * sleepNs, LONGEST_SLEEP_NS);
        }
        waits++;
        if (interrupted) {
            try {
                Thread.currentThread().interrupt();
            } catch (final Throwable e) {
                taken = false;
                throw e;
            }
        }
    }

    /** Spins, and returns whether the thread has the lock now. Others make way for the thread only after a while. */
    private boolean spinForIt() {
        boolean counted = false;
        try {
            for (int looks = 0; looks < MOST_LOOKS; looks++) {
                for (int i = 0; i < PAUSES_BETWEEN; i++) {
                    Thread.onSpinWait();
                }
                if (looks == PATIENT_LOOKS) {
                    WAITING.getAndAdd(this, 1);
                    counted = true;
                }
                // Reading first leaves the cache line with its owner.
                if (!(boolean) TAKEN.getOpaque(this) && TAKEN.weakCompareAndSetAcquire(this, false, true)) {
                    return true;
                }
            }
            return false;
        } finally {
            if (counted) {
                WAITING.getAndAdd(this, -1);
            }
        }
    }
}
