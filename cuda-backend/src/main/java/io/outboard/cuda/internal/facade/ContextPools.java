package io.outboard.cuda.internal.facade;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.cuda.internal.memory.StreamCaptures;
import io.outboard.cuda.internal.memory.VirtualMemoryCalls;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolStatistics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * The facade's pools, one for each CUDA context, made when that is chosen or first used, and which of them each thread uses.
 *
 * <p>A thread's context is asked for once and then remembered, until the thread says through the facade that it uses
 * another; of a virtual thread each time, since its current device is that of the thread that carries it. The look-up is a thread-local one, since a call of the driver would take 40 to 70 nanoseconds. An address
 * is looked for in every pool, since programs have few. Safe for any number of threads.
 */
public final class ContextPools {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    /** No device's number: there is none, or CUDA doesn't work. */
    static final int NO_DEVICE = -1;

    private final @Nullable String family;
    private static volatile boolean hasToldOfHeap;

    private final Supplier<CudaCalls> loader;
    private final PoolMaker maker;
    private final Supplier<? extends PoolOptions> defaults;

    /** What a thread uses; null while that isn't known. */
    // Not static: tests have several programs, with pools of their own.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable ContextPool> current = new ThreadLocal<>();

    /** What a thread found last, and so what most use. Without order, since it counts only for a thread that found the same. */
    private @Nullable ContextPool likely;

    private final StreamCaptures captures = new StreamCaptures();

    /** Taken before the monitor. Guards which contexts there are. */
    private final ReentrantLock contextLock = new ReentrantLock();

    /** Contexts that are gone. Threads may have them current still. */
    private final Set<Long> ended = ConcurrentHashMap.newKeySet();

    /** Replaced under the monitor, never changed. */
    private volatile ContextPool[] pools = {};

    /** By context, those whose work reads and writes its pool's memory, as CUDA knows, and their devices. Guarded by the monitor. */
    private final Map<Long, Map<Long, Integer>> viewers = new HashMap<>();

    /** What is kept of a pool whose context is gone. */
    private record EndedPool(int device, PoolStatistics statistics) {}

    /** Guarded by the monitor. */
    private final List<EndedPool> history = new ArrayList<>();

    private @Nullable PoolOptions options;

    /** No pools yet. Their names begin with {@code family}, null for none; options are asked for when the first one is made. */
    public ContextPools(
            final @Nullable String family,
            final Supplier<CudaCalls> loader,
            final Supplier<Optional<VirtualMemoryCalls>> virtualMemory,
            final LeasedMemory.Door lender,
            final Supplier<? extends PoolOptions> defaults) {
        this.family = family;
        this.loader = loader;
        maker = new PoolMaker(virtualMemory, lender);
        this.defaults = defaults;
    }

    StreamCaptures captures() {
        return captures;
    }

    /** For pools made from now on, and made early and never used. {@link IllegalStateException} if memory has been asked for. */
    public synchronized void configure(final PoolOptions newOptions) {
        if (Arrays.stream(pools).anyMatch(pool -> pool.pool().statistics().allocations() > 0)) {
            throw new IllegalStateException("options must be set before device memory is first asked for");
        }
        Arrays.stream(pools).forEach(ContextPool::discard);
        pools = new ContextPool[0];
        options = newOptions;
    }

    // The calling thread's

    /**
     * Makes the pool of the calling thread's context early, if it has a context: what it takes to make one starves beside threads that launch,
     * and the first allocation shouldn't wait for it. What fails fails again when memory is asked for, and is told then.
     */
    void prepare() {
        final int before = pools.length;
        try {
            final ContextPool pool = ofThread(false);
            if (pool != null && pools.length > before && !captures.any()) {
                pool.warm();
            }
        } catch (final RuntimeException | LinkageError e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a pool can't be made yet", e);
        } catch (final OutOfMemoryError e) {
            tellOnce(e);
        }
    }

    /** The thread uses another device or context from now on. */
    void forget() {
        current.remove();
    }

    /**
     * The pool of the thread's context. If it has none, to {@code bind} makes the current device's primary one current, as the runtime does;
     * else the answer is null, and the driver refuses.
     */
    @Nullable
    public ContextPool ofThread(final boolean bind) {
        final ContextPool guess = likely;
        final ContextPool mine = current.get();
        // It is the same as mine, but the processor goes on with it while the thread-local look-up is under way:
        // 5 ns less an allocation, with one thread and a simulated device, 2026-11-22.
        if (guess != null && guess == mine && guess.isLive()) {
            return guess;
        }
        return mine != null && mine.isLive() ? mine : find(bind);
    }

    /** Null where CUDA doesn't work, so that the caller asks CUDA itself and gets the code that says why. */
    private @Nullable ContextPool find(final boolean bind) {
        try {
            final CudaCalls calls = loader.get();
            final int[] device = new int[1];
            final long[] context = new long[1];
            if (bind && calls.currentDevice(device) != CudaCalls.SUCCESS) {
                return null;
            }
            if (calls.currentContext(context) != CudaCalls.SUCCESS || context[0] == 0 || ended.contains(context[0])) {
                if (!bind || exclusively(() -> bindPrimary(calls, device[0], context)) != CudaCalls.SUCCESS) {
                    return null;
                }
            }
            if (calls.currentDevice(device) != CudaCalls.SUCCESS) {
                return null;
            }
            final ContextPool pool = pool(calls, device[0], context[0]);
            if (!VirtualThreads.isCurrent()) {
                current.set(pool);
                likely = pool;
            }
            return pool;
        } catch (final CudaUnavailableException | CudaFailureException e) {
            return null;
        } catch (final OutOfMemoryError e) {
            tellOnce(e);
            if (isLeasing()) {
                // The driver would take memory beside the lender's back.
                throw e;
            }
            return null;
        }
    }

    private synchronized boolean isLeasing() {
        return (options == null ? defaults.get() : options).service() != null;
    }

    /** The host has no memory for what a pool needs. A program that needs little of it can do without. */
    static void tellOnce(final OutOfMemoryError e) {
        if (!hasToldOfHeap) {
            hasToldOfHeap = true;
            try {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "this Java virtual machine has no memory for a pool's needs: " + e);
            } catch (final OutOfMemoryError ignored) {
                // Nor for that line.
            }
        }
    }

    private int bindPrimary(final CudaCalls calls, final int device, final long[] context) {
        int code = calls.setDevice(device);
        if (code == CudaCalls.SUCCESS) {
            code = calls.currentContext(context);
        }
        if (code == CudaCalls.SUCCESS) {
            contextMade(context[0]);
        }
        return code;
    }

    private synchronized ContextPool pool(final CudaCalls calls, final int device, final long context) {
        final ContextPool there = inContext(context);
        if (there != null) {
            return there;
        }
        if (options == null) {
            options = defaults.get();
        }
        final ContextPool added = maker.make(
                family == null ? null : family + "-device" + device,
                new CudaContext(calls, context, device, captures),
                options);
        try {
            viewers.getOrDefault(context, Map.of()).forEach(added::show);
            for (final ContextPool pool : pools) {
                if (pool.device() == device) {
                    // What grows in place is no context's own.
                    pool.cover(context);
                    added.cover(pool.context());
                }
            }
            final ContextPool[] all = Arrays.copyOf(pools, pools.length + 1);
            all[all.length - 1] = added;
            // Release; pairs with the acquire in those who look for an address, a device or a context.
            pools = all;
            return added;
        } catch (final CudaFailureException | OutOfMemoryError e) {
            // Else each allocation from now on would leave one behind.
            added.discard();
            throw e;
        }
    }

    /** Or {@link #NO_DEVICE}. */
    int currentDevice() {
        final int[] device = new int[1];
        return asked(calls -> calls.currentDevice(device)) ? device[0] : NO_DEVICE;
    }

    /** No for 0, without asking: there may be no driver. */
    boolean isCurrent(final long context) {
        final long[] current = new long[1];
        return context != 0 && asked(calls -> calls.currentContext(current)) && current[0] == context;
    }

    /** The context of a stream that exists, of stream 0 the current one; 0 if there is none. */
    long contextOf(final long stream) {
        final long[] context = new long[1];
        return asked(calls -> calls.streamContext(context, stream)) ? context[0] : 0;
    }

    /** Makes or ends a context and finds out which, while no other thread does through the facades: CUDA uses handles again. */
    int exclusively(final IntSupplier call) {
        contextLock.lock();
        try {
            return call.getAsInt();
        } finally {
            contextLock.unlock();
        }
    }

    /** Calls, exclusively, what may end a device's primary context. If it did, its memory, streams and events are gone. */
    int endPrimary(final int device, final boolean surely, final IntSupplier call) {
        final long before = primaryOf(device);
        final int code = end(before, () -> {
            final int answer = call.getAsInt();
            if (answer == CudaCalls.SUCCESS && before != 0 && (surely || primaryOf(device) != before)) {
                contextEnded(before);
            }
            return answer;
        });
        forget();
        return code;
    }

    /** Calls what may end a context; nobody works there for a pool meanwhile, as CUDA demands. */
    int end(final long context, final IntSupplier call) {
        final int[] code = new int[1];
        Runnable action = () -> code[0] = call.getAsInt();
        for (final ContextPool pool : pools) {
            final Runnable within = action;
            action = () -> pool.whileThreadsRest(within);
        }
        // First, so that threads that wait for the device stop that.
        captures.whileEnding(action);
        return code[0];
    }

    /** The primary context of a device; 0 if it isn't there. */
    long primaryOf(final int device) {
        final long[] context = new long[1];
        return device != NO_DEVICE && asked(calls -> calls.primaryContext(context, device)) ? context[0] : 0;
    }

    private boolean asked(final ToIntFunction<CudaCalls> call) {
        try {
            return call.applyAsInt(loader.get()) == CudaCalls.SUCCESS;
        } catch (final CudaUnavailableException e) {
            return false;
        }
    }

    // Everyone's

    /** Whose region has an address; null if it is the driver's. */
    @Nullable
    ContextPool owner(final long address) {
        for (final ContextPool pool : pools) {
            if (pool.pool().contains(address)) {
                return pool;
            }
        }
        return null;
    }

    /** The one that was made first, should the device have several contexts; null if none was. */
    @Nullable
    ContextPool ofDevice(final int device) {
        return Arrays.stream(pools)
                .filter(pool -> pool.device() == device)
                .findFirst()
                .orElse(null);
    }

    public Optional<Pool> poolOf(final int device) {
        return Optional.ofNullable(ofDevice(device)).map(ContextPool::pool);
    }

    /** Null if there is none. */
    @Nullable
    ContextPool inContext(final long context) {
        for (final ContextPool pool : pools) {
            if (pool.context() == context) {
                return pool;
            }
        }
        return null;
    }

    /** Of those whose context is gone, then of those that live. */
    public synchronized <T> List<T> statistics(final BiFunction<Integer, PoolStatistics, T> each) {
        final List<T> all = new ArrayList<>();
        for (final EndedPool gone : history) {
            all.add(each.apply(gone.device(), gone.statistics()));
        }
        for (final ContextPool pool : pools) {
            all.add(each.apply(pool.device(), pool.pool().statistics()));
        }
        return all;
    }

    /** The current context's work reads and writes another's memory, or not any more, as CUDA knows already: that of pools it doesn't. */
    synchronized int changeView(final long context, final boolean shown) {
        final int device = currentDevice();
        final long viewer = contextOf(0);
        if (device == NO_DEVICE || viewer == 0) {
            return cudaError.cudaErrorInvalidDevice;
        }
        final Map<Long, Integer> all = viewers.computeIfAbsent(context, key -> new HashMap<>());
        try {
            if (shown) {
                final ContextPool pool = inContext(context);
                if (pool != null) {
                    pool.show(viewer, device);
                }
                all.put(viewer, device);
            } else {
                all.remove(viewer);
                hideUnlessSeen(context, device);
            }
            return CudaCalls.SUCCESS;
        } catch (final CudaFailureException e) {
            return e.code();
        }
    }

    /** Access is a device's, so as long as one of its contexts has it, all have. */
    private void hideUnlessSeen(final long context, final int device) {
        final ContextPool pool = inContext(context);
        if (pool != null && !viewers.getOrDefault(context, Map.of()).containsValue(device)) {
            pool.hide(device);
        }
    }

    /** The context is gone: it sees nothing any more, and has nothing to be seen. */
    private void forgetViews(final long gone) {
        viewers.remove(gone);
        viewers.forEach((context, all) -> {
            final Integer device = all.remove(gone);
            try {
                if (device != null) {
                    hideUnlessSeen(context, device);
                }
            } catch (final CudaFailureException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "memory is still shown to a device that needs it no more", e);
            }
        });
    }

    /** A context is there, perhaps with the handle of one that is gone. */
    void contextMade(final long context) {
        ended.remove(context);
    }

    /** A context is gone, and its memory, streams and events with it. */
    synchronized void contextEnded(final long context) {
        final ContextPool own = inContext(context);
        if (own != null) {
            history.add(new EndedPool(own.device(), own.pool().statistics()));
        }
        for (final ContextPool pool : pools) {
            pool.contextEnded(context);
        }
        captures.contextEnded(context);
        forgetViews(context);
        ended.add(context);
        pools = Arrays.stream(pools).filter(ContextPool::isLive).toArray(ContextPool[]::new);
    }
}
