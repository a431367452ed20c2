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
import java.util.Objects;
import java.util.Optional;

/**
 * The driver's calls for memory that others map, by {@code java.lang.foreign}, for JDK 22 and newer. Safe for any number
 * of threads.
 */
public final class SharedMemory implements SharedMemoryCalls {

    /** In constants, so that calls are compiled; apart, so that a driver that lacks one is found out by loading them. */
    private static final class Functions {

        static final SymbolLookup DRIVER = DriverLibrary.open();
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

        private static MethodHandle function(final String name, final MemoryLayout... parameters) {
            return DriverLibrary.function(DRIVER, name, parameters);
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
        return DriverLibrary.load(() -> {
            Objects.requireNonNull(Functions.DRIVER, "the driver");
            return new SharedMemory();
        });
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
            throw DriverLibrary.unexpected(e);
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
            throw DriverLibrary.unexpected(e);
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
        return call(bytes, (result, arena) -> (int) Functions.GRANULARITY.invokeExact(
                result,
                DriverLibrary.propertiesOf(device, DriverLibrary.DESCRIPTOR, arena),
                DriverLibrary.GRANULARITY_MINIMUM));
    }

    @Override
    public int create(final long[] handle, final long sizeBytes, final int device) {
        return call(handle, (result, arena) -> (int) Functions.CREATE.invokeExact(
                result, sizeBytes, DriverLibrary.propertiesOf(device, DriverLibrary.DESCRIPTOR, arena), 0L));
    }

    @Override
    public int exportDescriptor(final int[] descriptor, final long handle) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_INT);
            final int code = (int) Functions.EXPORT.invokeExact(result, handle, DriverLibrary.DESCRIPTOR, 0L);
            descriptor[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_INT, 0) : descriptor[0];
            return code;
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    /** The driver takes the descriptor itself where it declares a pointer. */
    @Override
    public int importDescriptor(final long[] handle, final int descriptor) {
        return call(handle, (result, arena) -> (int)
                Functions.IMPORT.invokeExact(result, MemorySegment.ofAddress(descriptor), DriverLibrary.DESCRIPTOR));
    }

    @Override
    public int release(final long handle) {
        try {
            return (int) Functions.RELEASE.invokeExact(handle);
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    @Override
    public int closeDescriptor(final int descriptor) {
        try {
            return (int) Functions.CLOSE.invokeExact(descriptor);
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    private static int call(final long[] to, final ResultCall call) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code = call.call(result, arena);
            to[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : to[0];
            return code;
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }
}
