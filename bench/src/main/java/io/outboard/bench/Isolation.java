package io.outboard.bench;

import io.outboard.bench.trace.Trace;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;

/**
 * Gives every strategy classes of its own, as if it were alone in the process. The compiler decides by what it has seen:
 * a loop over {@code Strategy.allocate} that has met three strategies calls through a table where it inlined the first,
 * and code shared in abstract classes keeps the branches that another strategy took. Whatever is measured later would
 * look slower than it is.
 *
 * <p>This loader defines anew, from the same files, all that isn't the JDK's or shared; so it finds strategies of any
 * module wherever their classes come from. Shared are the package that this class is in, traces, and HdrHistogram: what
 * crosses the borders that are {@link StrategyBench} and {@link PoolBench}; and JCuda, whose native library loads once.
 */
final class Isolation extends ClassLoader {

    private static final String STRATEGY_BENCH = "io.outboard.bench.isolated.IsolatedBench";
    private static final String POOL_BENCH = "io.outboard.bench.isolated.IsolatedPoolBench";

    static {
        registerAsParallelCapable();
    }

    private Isolation() {
        super("isolation", Isolation.class.getClassLoader());
    }

    /**
     * Loads a strategy's classes and makes what measures it.
     *
     * @param strategy name of one that exists
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables are to hold
     * @throws RuntimeException what the strategy's own classes threw
     */
    static StrategyBench open(final String strategy, final Trace trace, final int maxBlocks) {
        return (StrategyBench) open(STRATEGY_BENCH, strategy, trace, maxBlocks);
    }

    /**
     * The same for a pool over a strategy.
     *
     * @param strategy name of one that exists
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables are to hold
     */
    static PoolBench openPool(final String strategy, final Trace trace, final int maxBlocks) {
        return (PoolBench) open(POOL_BENCH, strategy, trace, maxBlocks);
    }

    private static Object open(final String bench, final String strategy, final Trace trace, final int maxBlocks) {
        try {
            return new Isolation()
                    .loadClass(bench)
                    .getConstructor(String.class, Trace.class, int.class)
                    .newInstance(strategy, trace, maxBlocks);
        } catch (final InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new LinkageError(strategy + " can't be isolated", e);
        } catch (final ReflectiveOperationException e) {
            throw new LinkageError(strategy + " can't be isolated", e);
        }
    }

    @Override
    protected Class<?> loadClass(final String name, final boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            final Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            return isShared(name) ? super.loadClass(name, resolve) : findClass(name);
        }
    }

    @Override
    protected Class<?> findClass(final String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            final byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isShared(final String name) {
        final String packageName = name.substring(0, Math.max(0, name.lastIndexOf('.')));
        return packageName.equals(Isolation.class.getPackageName())
                || packageName.equals(Trace.class.getPackageName())
                || packageName.equals("org.HdrHistogram")
                || packageName.startsWith("jcuda")
                || isOfTheJdk(name);
    }

    private static boolean isOfTheJdk(final String name) {
        try {
            ClassLoader.getPlatformClassLoader().loadClass(name);
            return true;
        } catch (final ClassNotFoundException e) {
            return false;
        }
    }
}
