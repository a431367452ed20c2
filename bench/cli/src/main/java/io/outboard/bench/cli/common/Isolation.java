package io.outboard.bench.cli.common;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;

/**
 * Gives every strategy classes of its own, as if it were alone in the process. The compiler decides by what it has
 * seen: a loop over {@code Strategy.allocate} that has met three strategies calls through a table where it inlined the
 * first, and code shared in abstract classes keeps the branches that another strategy took. Whatever is measured later
 * would look slower than it is.
 *
 * <p>This loader defines anew, from the same files, all that isn't the JDK's or shared; so it finds strategies of any
 * module wherever their classes come from. Shared are HdrHistogram and the benchmark's own packages, but for those that
 * are called {@code isolated}: what measures is in these, what it is asked for and what it answers in the others; and
 * JCuda, whose native library loads once.
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
     * Defines a class anew, and all that it uses but for what is shared, and makes one of it.
     *
     * @param <T> as what it is known outside
     * @param type the same
     * @param className of the class, in a package that isn't shared
     * @param arguments of its only public constructor
     * @return the object
     * @throws RuntimeException what the constructor threw
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
