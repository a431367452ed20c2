package io.outboard.cuda.internal.foreign;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * This class makes the handles by which a program calls native functions, in place of {@link Linker}: the agent changes
 * the program's calls of the linker into calls of {@link #downcallHandle}. A handle of one of CUDA's functions that a
 * facade stands for calls the facade, without a native call. The C library says which function is at an address, so it
 * doesn't matter how the program has found the address.
 *
 * <p>An allocation or a free makes no garbage once it is compiled. Making a handle takes some 10 microseconds more.
 * Safe for any number of threads.
 */
public final class Downcalls {

    /** The oldest versions of these functions have addresses and sizes of 32 bits, and the newer ones another name. */
    private static final Set<String> OF_32_BITS =
            Set.of("cuMemAlloc", "cuMemAllocPitch", "cuMemFree", "cuMemGetAddressRange", "cuMemGetInfo");

    private static final Set<String> REPLACED = ConcurrentHashMap.newKeySet();
    private static final Set<String> MISFITS = ConcurrentHashMap.newKeySet();

    private static volatile Consumer<String> warnings = warning -> {};

    private Downcalls() {}

    /** This class knows the names of functions. It loads if native access is allowed. */
    private static final class Names {

        // The structure Dl_info has four pointers: file, base, name of the function, and the address where that begins.
        private static final long INFO_BYTES = 32;
        private static final long NAME = 16;
        private static final long BEGIN = 24;

        @SuppressWarnings("restricted")
        private static final MethodHandle FIND = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().find("dladdr").orElseThrow(),
                        FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

        private Names() {}

        /** Answers the name of the function at an address; empty if there is none that other libraries see. */
        @SuppressWarnings("restricted")
        static String at(final long address) {
            try (Arena arena = Arena.ofConfined()) {
                final MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);
                final int found = (int) FIND.invokeExact(MemorySegment.ofAddress(address), info);
                final MemorySegment name = info.get(ADDRESS, NAME);
                return found == 0 || name.address() == 0 || info.get(JAVA_LONG, BEGIN) != address
                        ? ""
                        : name.reinterpret(Long.MAX_VALUE).getString(0);
            } catch (final Throwable e) {
                throw Handles.thrown(e);
            }
        }
    }

    /**
     * Says whom to tell of functions that aren't replaced, and answers why none can be, as the end of a sentence.
     *
     * @param listener what takes a line for each such function
     * @return the reason, or nothing if functions can be replaced
     */
    public static Optional<String> begin(final Consumer<String> listener) {
        if (!Bindings.mayWrite()) {
            return Optional.of("where native access is forbidden; to allow it: --enable-native-access=ALL-UNNAMED");
        }
        // A C library that can't say names fails here, and not in the program.
        Names.at(0);
        warnings = listener;
        return Optional.empty();
    }

    /** {@return the names of the functions of which programs have handles that call a facade} */
    public static Set<String> replaced() {
        return Set.copyOf(REPLACED);
    }

    /**
     * Makes a handle as the linker does. Where the function is one of CUDA's but hasn't the parameters of CUDA's, the
     * handle is the linker's own.
     *
     * @param linker as in a program's call, as all that follows
     * @param symbol the function's address
     * @param function the function's type
     * @param options how to call the function
     * @return the handle, of the type that the linker's has
     */
    @SuppressWarnings("restricted")
    public static MethodHandle downcallHandle(
            final Linker linker,
            final MemorySegment symbol,
            final FunctionDescriptor function,
            final Linker.Option... options) {
        final MethodHandle original = linker.downcallHandle(symbol, function, options);
        final String name = Names.at(symbol.address());
        if (CudaFunction.named(name) == null || OF_32_BITS.contains(name)) {
            return original;
        }
        final MethodType type = original.type();
        try {
            // The handle has a parameter more if it keeps the C library's last error, for example.
            final Optional<UnaryOperator<MethodHandle>> adapter =
                    type.equals(function.toMethodType()) ? Bindings.adapter(name, type) : Optional.empty();
            if (adapter.isPresent()) {
                final MethodHandle replacement = adapter.get().apply(original).asType(type);
                REPLACED.add(name);
                return replacement;
            }
        } catch (final ReflectiveOperationException e) {
            // Only types of a binding's own can be unexpected, and the linker has none.
            throw new LinkageError(name, e);
        }
        if (MISFITS.add(name + type)) {
            warnings.accept("function=" + name + type + " has other parameters than CUDA's, or the handle has options,"
                    + " so its calls by this handle stay as they are");
        }
        return original;
    }
}
