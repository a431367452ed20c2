package io.outboard.bench.cli.common;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;

/**
 * This class gives every strategy classes of its own, as if the strategy were alone in the process. The JIT compiler
 * decides by what it has seen so far. A loop over {@code Strategy.allocate} inlines the call while it has met one
 * strategy, and calls through a table once it has met three. Code shared in abstract classes keeps the branches that
 * another strategy took. Without this class, a strategy that is measured later would look slower than it is.
 *
 * <p>This loader defines classes anew from the same class files, except classes of the JDK and shared classes. So it
 * also finds strategies of other modules. Three groups of classes are shared: HdrHistogram; the benchmark's own
 * packages, unless their name ends in {@code isolated}; and JCuda, whose native library can be loaded only once. The
 * code that measures is in the {@code isolated} packages, the types of its arguments and results are in the others.
 */
public final class Isolation extends ClassLoader {

    private static final String BENCH = "io.outboard.bench";
    private static final String ANEW = ".isolated";

    static {
        registerAsParallelCapable();
    }

    private Isolation() {
        super("isolation", Isolation.class.getClassLoader());
    }

    /**
     * Defines a class and all unshared classes that it uses anew, and makes one object of it.
     *
     * @param <T> the type by which callers know the object
     * @param type the same type
     * @param className name of the class, in a package that isn't shared
     * @param arguments of the only public constructor of the class
     * @return the object
     * @throws RuntimeException the exception that the constructor threw
     */
    public static <T> T open(final Class<T> type, final String className, final Object... arguments) {
        try {
            return type.cast(
                    new Isolation().loadClass(className).getConstructors()[0].newInstance(arguments));
        } catch (final InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new LinkageError(className + " can't be isolated", e);
        } catch (final ReflectiveOperationException e) {
            throw new LinkageError(className + " can't be isolated", e);
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
        return (packageName.startsWith(BENCH) && !packageName.endsWith(ANEW))
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
