package io.outboard.cuda.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;

/**
 * The driver's calls for memory that others map, by {@code java.lang.foreign}, for JDK 22 and newer. {@code CUmemAllocationProp} is drawn
 * in {@link VirtualMemory}; here {@code requestedHandleTypes} is 1, a POSIX file descriptor. Safe for any number of threads.
 */
public final class SharedMemory implements SharedMemoryCalls {

    private static final String LIBRARY = "libcuda.so.1";

    private static final long PROPERTIES_BYTES = 32;
    private static final long PROPERTIES_TYPE = 0;
    private static final long PROPERTIES_HANDLE_TYPES = 4;
    private static final long PROPERTIES_LOCATION_TYPE = 8;
    private static final long PROPERTIES_LOCATION = 12;
    private static final int PINNED = 1;
    private static final int DESCRIPTOR = 1;
    private static final int LOCATION_DEVICE = 1;
    private static final int GRANULARITY_MINIMUM = 0;

    /** In constants, so that calls are compiled; apart, so that a driver that lacks one is found out by loading them. */
    private static final class Functions {

        static final SymbolLookup DRIVER = driver();
        static final MethodHandle INITIALIZE = function("cuInit", JAVA_INT);
        static final MethodHandle DEVICE = function("cuDeviceGet", ADDRESS, JAVA_INT);
        static final MethodHandle UUID = function("cuDeviceGetUuid_v2", ADDRESS, JAVA_INT);
        static final MethodHandle TOTAL = function("cuDeviceTotalMem_v2", ADDRESS, JAVA_INT);
        static final MethodHandle GRANULARITY = function("cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
        static final MethodHandle CREATE = function("cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
        static final MethodHandle EXPORT =
                function("cuMemExportToShareableHandle", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG);
        static final MethodHandle IMPORT = function("cuMemImportFromShareableHandle", ADDRESS, ADDRESS, JAVA_INT);
        static final MethodHandle RELEASE = function("cuMemRelease", JAVA_LONG);
        static final MethodHandle CLOSE = close();

        private Functions() {}

        @SuppressWarnings("restricted")
        private static SymbolLookup driver() {
            return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
        }

        @SuppressWarnings("restricted")
        private static MethodHandle function(final String name, final MemoryLayout... parameters) {
            return Linker.nativeLinker()
                    .downcallHandle(DRIVER.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, parameters));
        }

        @SuppressWarnings("restricted")
        private static MethodHandle close() {
            final Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(
                    linker.defaultLookup().find("close").orElseThrow(), FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        }
    }

    /** A call whose first parameter is where its result goes. */
    private interface ResultCall {
        int call(MemorySegment result, Arena arena) throws Throwable;
    }

    private static final Optional<SharedMemoryCalls> FOUND = load();

    private SharedMemory() {}

    private static Optional<SharedMemoryCalls> load() {
        try {
            Objects.requireNonNull(Functions.DRIVER, "the driver");
            return Optional.of(new SharedMemory());
        } catch (final ExceptionInInitializerError e) {
            final Throwable cause = e.getCause();
            if (cause instanceof IllegalArgumentException
                    || cause instanceof NoSuchElementException
                    || cause instanceof IllegalCallerException) {
                // No library; no function; --illegal-native-access=deny.
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Finds the calls.
     *
     * @return them, or nothing where the driver isn't there or lacks them, or the program forbids native access; the same each time
     */
    public static Optional<SharedMemoryCalls> find() {
        return FOUND;
    }

    @Override
    public int initialize() {
        try {
            return (int) Functions.INITIALIZE.invokeExact(0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int uuid(final byte[] uuid, final int device) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(UUID_BYTES);
            final int[] handle = new int[1];
            int code = handleOf(handle, device, arena);
            if (code == CudaCalls.SUCCESS) {
                code = (int) Functions.UUID.invokeExact(result, handle[0]);
            }
            if (code == CudaCalls.SUCCESS) {
                MemorySegment.copy(result, JAVA_BYTE, 0, uuid, 0, UUID_BYTES);
            }
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int totalBytes(final long[] bytes, final int device) {
        return call(bytes, (result, arena) -> {
            final int[] handle = new int[1];
            final int code = handleOf(handle, device, arena);
            return code == CudaCalls.SUCCESS ? (int) Functions.TOTAL.invokeExact(result, handle[0]) : code;
        });
    }

    private static int handleOf(final int[] handle, final int device, final Arena arena) throws Throwable {
        final MemorySegment result = arena.allocate(JAVA_INT);
        final int code = (int) Functions.DEVICE.invokeExact(result, device);
        handle[0] = result.get(JAVA_INT, 0);
        return code;
    }

    @Override
    public int granularity(final long[] bytes, final int device) {
        return call(bytes, (result, arena) ->
                (int) Functions.GRANULARITY.invokeExact(result, propertiesOf(device, arena), GRANULARITY_MINIMUM));
    }

    @Override
    public int create(final long[] handle, final long sizeBytes, final int device) {
        return call(handle, (result, arena) ->
                (int) Functions.CREATE.invokeExact(result, sizeBytes, propertiesOf(device, arena), 0L));
    }

    @Override
    public int exportDescriptor(final int[] descriptor, final long handle) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_INT);
            final int code = (int) Functions.EXPORT.invokeExact(result, handle, DESCRIPTOR, 0L);
            descriptor[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_INT, 0) : descriptor[0];
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /** The driver takes the descriptor itself where it declares a pointer. */
    @Override
    public int importDescriptor(final long[] handle, final int descriptor) {
        return call(handle, (result, arena) ->
                (int) Functions.IMPORT.invokeExact(result, MemorySegment.ofAddress(descriptor), DESCRIPTOR));
    }

    @Override
    public int release(final long handle) {
        try {
            return (int) Functions.RELEASE.invokeExact(handle);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int closeDescriptor(final int descriptor) {
        try {
            return (int) Functions.CLOSE.invokeExact(descriptor);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    private static int call(final long[] to, final ResultCall call) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code = call.call(result, arena);
            to[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : to[0];
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /** All other fields are 0, as an arena's memory is. */
    private static MemorySegment propertiesOf(final int device, final Arena arena) {
        final MemorySegment properties = arena.allocate(PROPERTIES_BYTES, ADDRESS.byteAlignment());
        properties.set(JAVA_INT, PROPERTIES_TYPE, PINNED);
        properties.set(JAVA_INT, PROPERTIES_HANDLE_TYPES, DESCRIPTOR);
        properties.set(JAVA_INT, PROPERTIES_LOCATION_TYPE, LOCATION_DEVICE);
        properties.set(JAVA_INT, PROPERTIES_LOCATION, device);
        return properties;
    }

    /** A downcall itself throws nothing, but its signature must allow for everything. */
    private static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final Error e) {
            throw e;
        }
        return thrown instanceof final RuntimeException e ? e : new IllegalStateException(thrown);
    }
}
