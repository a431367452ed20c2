package io.outboard.bench.cli.device;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * This class calls a C function through {@code java.lang.foreign}, which JDK 22 and newer have. The project compiles
 * for 17, so this class uses that package by reflection; the method handles that it returns are ordinary ones. Pointers
 * are passed as {@code long}, which the x86-64 and AArch64 calling conventions treat alike. Made for a few calls a run,
 * not for the hot path.
 */
final class ForeignFunction {

    private static final int FIRST_RELEASE = 22;

    private ForeignFunction() {}

    /** Tells whether this JDK has {@code java.lang.foreign}. */
    static boolean isAvailable() {
        return Runtime.version().feature() >= FIRST_RELEASE;
    }

    /**
     * Finds a function that returns a C {@code int}.
     *
     * @param library file name as the dynamic linker knows it, such as {@code libcuda.so.1}
     * @param symbol the function's name
     * @param parameters {@code int.class} for 32 bits, {@code long.class} for 64 bits and pointers
     * @return a handle with these parameters that returns {@code int}
     * @throws ReflectiveOperationException if the package, the library or the function is missing, or if its use is
     *     denied
     */
    static MethodHandle find(final String library, final String symbol, final Class<?>... parameters)
            throws ReflectiveOperationException {
        final Class<?> linkerType = foreign("Linker");
        final Class<?> optionType = foreign("Linker$Option");
        final Class<?> lookupType = foreign("SymbolLookup");
        final Class<?> arenaType = foreign("Arena");
        final Class<?> segmentType = foreign("MemorySegment");
        final Class<?> layoutType = foreign("MemoryLayout");
        final Class<?> descriptorType = foreign("FunctionDescriptor");

        final Object[] layouts = (Object[]) Array.newInstance(layoutType, parameters.length);
        for (int i = 0; i < parameters.length; i++) {
            layouts[i] = layoutOf(parameters[i]);
        }
        final Object descriptor = descriptorType
                .getMethod("of", layoutType, layouts.getClass())
                .invoke(null, layoutOf(int.class), layouts);
        final Object arena = arenaType.getMethod("global").invoke(null);
        final Object lookup = unwrapped(() ->
                lookupType.getMethod("libraryLookup", String.class, arenaType).invoke(null, library, arena));
        final Optional<?> address =
                (Optional<?>) lookupType.getMethod("find", String.class).invoke(lookup, symbol);
        if (address.isEmpty()) {
            throw new NoSuchMethodException(symbol + " is not in " + library);
        }
        final Object options = Array.newInstance(optionType, 0);
        final Object linker = linkerType.getMethod("nativeLinker").invoke(null);
        return (MethodHandle) unwrapped(() -> linkerType
                .getMethod("downcallHandle", segmentType, descriptorType, options.getClass())
                .invoke(linker, address.get(), descriptor, options));
    }

    /**
     * Calls a function that {@link #find} found.
     *
     * @param function the handle
     * @param arguments one for each parameter, of the same type
     * @return what the function returned
     */
    static int call(final MethodHandle function, final Object... arguments) {
        try {
            return (int) function.invokeWithArguments(arguments);
        } catch (final RuntimeException | Error e) {
            throw e;
        } catch (final Throwable e) {
            throw new IllegalStateException("a C function threw " + e, e);
        }
    }

    /** Returns where a direct buffer begins; the caller keeps the buffer reachable. */
    static long addressOf(final ByteBuffer buffer) throws ReflectiveOperationException {
        final Class<?> segmentType = foreign("MemorySegment");
        final Object segment = segmentType.getMethod("ofBuffer", Buffer.class).invoke(null, buffer);
        return (long) segmentType.getMethod("address").invoke(segment);
    }

    private static Object layoutOf(final Class<?> parameter) throws ReflectiveOperationException {
        final String name = parameter == int.class ? "JAVA_INT" : "JAVA_LONG";
        return foreign("ValueLayout").getField(name).get(null);
    }

    private static Class<?> foreign(final String name) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + name);
    }

    /**
     * Makes a reflective call; a missing library or a denied use is reported by the exception that any other missing
     * part causes.
     */
    private static Object unwrapped(final ReflectiveCall call) throws ReflectiveOperationException {
        try {
            return call.run();
        } catch (final InvocationTargetException e) {
            throw new ReflectiveOperationException(String.valueOf(e.getCause()), e.getCause());
        }
    }

    private interface ReflectiveCall {
        Object run() throws ReflectiveOperationException;
    }
}
