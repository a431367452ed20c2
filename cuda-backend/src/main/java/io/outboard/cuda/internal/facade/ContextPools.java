package io.outboard.cuda.internal.facade;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.cuda.internal.memory.NativeLibrary;
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
 * This class has the facade's pools, one for each CUDA context, and remembers which pool each thread uses. A pool is
 * made when its context is chosen or first used.
 *
 * <p>A thread's context is asked for once and then remembered, until the thread says through the facade that it uses
 * another: a call of the driver would take 40 to 70 nanoseconds. A virtual thread's context is asked for each time,
 * since its device is that of its carrier thread. An address is looked for in every pool, since programs have few
 * pools. Safe for any number of threads.
 */
public final class ContextPools {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    /** The number of a device where there is none, or CUDA doesn't work. */
    static final int NO_DEVICE = -1;

    /** The pools of the facades that programs call. */
    private static @Nullable ContextPools ofProcess;

    private static volatile boolean hasToldOfHeap;

    private final @Nullable String family;

    private final Supplier<CudaCalls> loader;
    private final PoolMaker maker;
    private final Supplier<? extends PoolMaker.Options> defaults;

    /** The pool that a thread uses; null while the pool isn't known. */
    // The field isn't static, since tests simulate several programs, each with its own pools.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable ContextPool> current = new ThreadLocal<>();

    /** The pool that a thread found last. Races do no harm: a thread uses the pool only if it is the thread's own. */
    private @Nullable ContextPool likely;

    private final StreamCaptures captures = new StreamCaptures();

    /** This lock is held while contexts are made or ended. A thread takes it before the monitor. */
    private final ReentrantLock contextLock = new ReentrantLock();

    /** Contexts that are gone, though threads may still have them current. */
    private final Set<Long> ended = ConcurrentHashMap.newKeySet();

    /** The pools of contexts that live. The array is replaced under the monitor, and never changed. */
    private volatile ContextPool[] pools = {};

    /** For each context, the contexts that may use its memory, each with its device. Guarded by the monitor. */
    private final Map<Long, Map<Long, Integer>> viewers = new HashMap<>();

    /** This record is kept of a pool whose context is gone. */
    private record EndedPool(int device, PoolStatistics statistics) {}

    /** Whether memory is checked when the process ends. Guarded by the monitor. */
    private boolean checksAtExit;

    /** The pools that have ended. Guarded by the monitor. */
    private final List<EndedPool> history = new ArrayList<>();

    private PoolMaker.@Nullable Options options;

    /**
     * Begins without pools. The names of pools begin with {@code family}, or are null; options are asked for when the
     * first pool is made.
     */
    public ContextPools(
            final @Nullable String family,
            final Supplier<CudaCalls> loader,
            final Supplier<Optional<VirtualMemoryCalls>> virtualMemory,
            final LeasedMemory.Door lender,
            final Supplier<? extends PoolMaker.Options> defaults) {
        this.family = family;
        this.loader = loader;
        maker = new PoolMaker(virtualMemory, lender);
        this.defaults = defaults;
    }

    /**
     * Returns the pools of the facades that programs call. The first call's {@code defaults} are used. CUDA isn't
     * touched before a pool is needed.
     */
    public static synchronized ContextPools ofProcess(final Supplier<? extends PoolMaker.Options> defaults) {
        if (ofProcess == null) {
            ofProcess = new ContextPools(
                    "facade", NativeLibrary::load, DriverLibrary::virtualMemory, LeasedMemory::connect, defaults);
        }
        return ofProcess;
    }

    StreamCaptures captures() {
        return captures;
    }

    /** Sets the options of pools; pools that were made early are made anew. Throws if memory was already allocated. */
    public synchronized void configure(final PoolMaker.Options newOptions) {
        if (Arrays.stream(pools).anyMatch(pool -> pool.pool().statistics().allocations() > 0)) {
            throw new IllegalStateException("options must be set before device memory is first asked for");
        }
        Arrays.stream(pools).forEach(ContextPool::discard);
        pools = new ContextPool[0];
        options = newOptions;
    }

    // The methods below are about the calling thread.

    /**
     * Makes the pool of the calling thread's context early, if the thread has one. While other threads launch kernels,
     * making a pool takes long, and the first allocation shouldn't wait for that. A failure is only logged, since it
     * occurs again when memory is requested.
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

    /** Forgets the thread's context, since the thread uses another from now on. */
    void forget() {
        current.remove();
    }

    /**
     * Finds the pool of the thread's context. If the thread has no context, {@code bind} makes the device's primary
     * context current, as the runtime does; without {@code bind} the answer is null, and the driver refuses.
     */
    @Nullable
    public ContextPool ofThread(final boolean bind) {
        final ContextPool guess = likely;
        final ContextPool mine = current.get();
        // Both variables hold the same pool, but the processor can go on with the guess during the thread-local
        // look-up: an allocation takes 5 ns less, with one thread and a simulated device, 2026-11-22.
        if (guess != null && guess == mine && guess.isLive()) {
            return guess;
        }
        return mine != null && mine.isLive() ? mine : find(bind);
    }

    /**
     * Finds or makes the pool of the thread's context. Where CUDA doesn't work, the answer is null, and the caller asks
     * CUDA for the reason.
     */
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
                // The driver would take memory without the lender's knowledge.
                throw e;
            }
            return null;
        }
    }

    private synchronized boolean isLeasing() {
        return (options == null ? defaults.get() : options).service() != null;
    }

    /** Logs that the host has no memory for a pool. A program that needs little memory can do without a pool. */
    static void tellOnce(final OutOfMemoryError e) {
        if (!hasToldOfHeap) {
            hasToldOfHeap = true;
            try {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "this Java virtual machine has no memory for a pool's needs: " + e);
            } catch (final OutOfMemoryError ignored) {
                // There is no memory for a line of the log, either.
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
                    // Memory that grows in place belongs to no context, so all contexts of the device may use it.
                    pool.cover(context);
                    added.cover(pool.context());
                }
            }
            final ContextPool[] all = Arrays.copyOf(pools, pools.length + 1);
            all[all.length - 1] = added;
            // This volatile write pairs with the reads of threads that look for an address, a device or a context.
            pools = all;
            if (options.checksMemory()) {
                checkAtExit();
            }
            return added;
        } catch (final CudaFailureException | OutOfMemoryError e) {
            // Otherwise each further allocation would leave such a pool behind.
            added.discard();
            throw e;
        }
    }

    /** Has memory checked when the process ends, since programs leave their last blocks to that. */
    private void checkAtExit() {
        if (!checksAtExit) {
            checksAtExit = true;
            try {
                Runtime.getRuntime()
                        .addShutdownHook(new Thread(
                                () -> Arrays.stream(pools).forEach(ContextPool::checkMemory), "outboard-check"));
            } catch (final IllegalStateException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "the process ends already", e);
            }
        }
    }

    /** Answers the thread's device, or {@link #NO_DEVICE}. */
    int currentDevice() {
        final int[] device = new int[1];
        return asked(calls -> calls.currentDevice(device)) ? device[0] : NO_DEVICE;
    }

    /** Answers whether a context is the thread's current one. For 0, CUDA isn't asked, since there may be no driver. */
    boolean isCurrent(final long context) {
        final long[] current = new long[1];
        return context != 0 && asked(calls -> calls.currentContext(current)) && current[0] == context;
    }

    /** Answers the context of a stream that exists, and the current context for stream 0; 0 if there is none. */
    long contextOf(final long stream) {
        final long[] context = new long[1];
        return asked(calls -> calls.streamContext(context, stream)) ? context[0] : 0;
    }

    /** Makes or ends a context while no other thread does so through the facades, since CUDA reuses handles. */
    int exclusively(final IntSupplier call) {
        contextLock.lock();
        try {
            return call.getAsInt();
        } finally {
            contextLock.unlock();
        }
    }

    /** Makes a call that may end a device's primary context; the caller is inside {@link #exclusively}. */
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

    /** Makes a call that may end a context; meanwhile no thread works in the context for a pool, as CUDA demands. */
    int end(final long context, final IntSupplier call) {
        final ContextPool own = inContext(context);
        if (own != null) {
            own.checkMemory();
        }
        final int[] code = new int[1];
        Runnable action = () -> code[0] = call.getAsInt();
        for (final ContextPool pool : pools) {
            final Runnable within = action;
            action = () -> pool.whileThreadsRest(within);
        }
        // The announcement comes before pools' threads are stopped, so that these threads stop waiting for the device.
        captures.whileEnding(action);
        return code[0];
    }

    /** Answers a device's primary context; 0 if there is none. */
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

    // The methods below are about the pools of all threads.

    /** Finds the pool that has a region with an address; null if the memory is the driver's. */
    @Nullable
    ContextPool owner(final long address) {
        for (final ContextPool pool : pools) {
            if (pool.pool().contains(address)) {
                return pool;
            }
        }
        return null;
    }

    /** Finds the first pool of a device, which may have several contexts; null if there is none. */
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

    /** Finds a context's pool; null if there is none. */
    @Nullable
    ContextPool inContext(final long context) {
        for (final ContextPool pool : pools) {
            if (pool.context() == context) {
                return pool;
            }
        }
        return null;
    }

    /** Maps the statistics of all pools, first of those whose context is gone. */
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

    /**
     * Does for the memory of pools what CUDA did for other memory: gives the current context access to another
     * context's memory, or takes the access away.
     */
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

    /**
     * Hides a context's memory from a device, unless another context of the device may still use it, because CUDA gives
     * access to whole devices.
     */
    private void hideUnlessSeen(final long context, final int device) {
        final ContextPool pool = inContext(context);
        if (pool != null && !viewers.getOrDefault(context, Map.of()).containsValue(device)) {
            pool.hide(device);
        }
    }

    /** Forgets which memory an ended context could use, and which contexts could use its memory. */
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

    /** Says that there is a new context, perhaps with the handle of one that is gone. */
    void contextMade(final long context) {
        ended.remove(context);
    }

    /** Says that a context is gone, and with it its memory, streams and events. */
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
