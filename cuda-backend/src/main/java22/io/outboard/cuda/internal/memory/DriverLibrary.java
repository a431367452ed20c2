package io.outboard.cuda.internal.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.outboard.cuda.driver.CudaUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * This class makes those calls of the driver that JCuda can't make, by {@code java.lang.foreign}, for JDK 22 and newer.
 * The driver reads these structures, in bytes ({@code cuda.h} of CUDA 12, unchanged in 13):
 *
 * <pre>{@code
 *   CUmemAllocationProp, 32 bytes                              CUmemAccessDesc, 12 bytes
 *    0  int   type: 1, pinned                                   0  int  location.type: 1, device
 *    4  int   requestedHandleTypes: 0, none; 1, a descriptor    4  int  location.id: the device's number
 *    8  int   location.type: 1, device                          8  int  flags: 0, none; 3, read and write
 *   12  int   location.id: the device's number
 *   16  void* win32HandleMetaData: null
 *   24  byte  allocFlags: all 0
 * }</pre>
 *
 * <p>The device's number is the same to the runtime and to the driver. Whether the functions load is checked once. Safe
 * for any number of threads.
 */
public final class DriverLibrary implements VirtualMemoryCalls, SharedMemoryCalls {

    private static final String NAME = "libcuda.so.1";

    /** The kind of handle of memory that stays in this process. */
    private static final int NO_HANDLE = 0;

    /** The kind of handle of memory that other processes map, a POSIX file descriptor. */
    private static final int DESCRIPTOR = 1;

    /** The most bytes that are looked at for the end of a name. */
    private static final int MOST_NAME_BYTES = 256;

    private static final int GRANULARITY_MINIMUM = 0;
    private static final int PINNED = 1;
    private static final int LOCATION_DEVICE = 1;
    private static final int READ_AND_WRITE = 3;

    /** This class has the functions as constants, so that calls are compiled. It loads if the driver has them all. */
    static final class Functions {

        @SuppressWarnings("restricted")
        static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(NAME, Arena.global());

        static final MethodHandle INITIALIZE = function("cuInit", JAVA_INT);
        static final MethodHandle ERROR_NAME = function("cuGetErrorName", JAVA_INT, ADDRESS);
        static final MethodHandle UUID = function("cuDeviceGetUuid_v2", ADDRESS, JAVA_INT);
        static final MethodHandle TOTAL = function("cuDeviceTotalMem_v2", ADDRESS, JAVA_INT);
        static final MethodHandle GRANULARITY = function("cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
        static final MethodHandle RESERVE =
                function("cuMemAddressReserve", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final MethodHandle FREE_ADDRESSES = function("cuMemAddressFree", JAVA_LONG, JAVA_LONG);
        static final MethodHandle CREATE = function("cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
        static final MethodHandle RELEASE = function("cuMemRelease", JAVA_LONG);
        static final MethodHandle MAP = function("cuMemMap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final MethodHandle UNMAP = function("cuMemUnmap", JAVA_LONG, JAVA_LONG);
        static final MethodHandle SET_ACCESS = function("cuMemSetAccess", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
        static final MethodHandle EXPORT =
                function("cuMemExportToShareableHandle", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG);
        static final MethodHandle IMPORT = function("cuMemImportFromShareableHandle", ADDRESS, ADDRESS, JAVA_INT);
        static final MethodHandle CLOSE = downcall(Linker.nativeLinker().defaultLookup(), "close", JAVA_INT);

        private Functions() {}

        static MethodHandle function(final String name, final MemoryLayout... parameters) {
            return downcall(LIBRARY, name, parameters);
        }

        @SuppressWarnings("restricted")
        private static MethodHandle downcall(
                final SymbolLookup library, final String name, final MemoryLayout... parameters) {
            return Linker.nativeLinker()
                    .downcallHandle(library.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, parameters));
        }
    }

    /** A downcall itself throws nothing, but its signature must allow for everything. */
    interface Call {
        int call() throws Throwable;
    }

    /** This interface is a downcall whose first parameter is the place of its result. */
    interface ResultCall {
        int call(MemorySegment result, Arena arena) throws Throwable;
    }

    /** The reason why the functions don't load, in one line; empty if they do. */
    private static final String OBSTACLE = load();

    private final int handleTypes;

    private DriverLibrary(final int handleTypes) {
        this.handleTypes = handleTypes;
    }

    private static String load() {
        try {
            return Functions.INITIALIZE == null ? NativeLibrary.NO_DRIVER : "";
        } catch (final ExceptionInInitializerError e) {
            final Throwable cause = e.getCause();
            if (cause instanceof IllegalCallerException) {
                final Module module = DriverLibrary.class.getModule();
                final String remedy = "; to allow it: --enable-native-access="
                        + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
                System.getLogger("io.outboard.cuda")
                        .log(
                                System.Logger.Level.WARNING,
                                "native access is forbidden, so memory doesn't grow in place, and the device is asked"
                                        + " by waiting for it" + remedy);
                return "native access is forbidden, and JCuda is not on the class path" + remedy;
            }
            if (cause instanceof IllegalArgumentException) {
                return NativeLibrary.NO_DRIVER;
            }
            if (cause instanceof NoSuchElementException) {
                return "the NVIDIA driver is too old: it lacks functions that are needed; install driver 525 or newer";
            }
            throw e;
        }
    }

    /** {@return the calls, or nothing if the driver is missing or lacks them, or native access is forbidden} */
    public static Optional<VirtualMemoryCalls> virtualMemory() {
        return OBSTACLE.isEmpty() ? Optional.of(new DriverLibrary(NO_HANDLE)) : Optional.empty();
    }

    /** {@return the calls, or nothing, as {@link #virtualMemory}} */
    public static Optional<SharedMemoryCalls> sharedMemory() {
        return OBSTACLE.isEmpty() ? Optional.of(new DriverLibrary(DESCRIPTOR)) : Optional.empty();
    }

    /** Answers the calls of the driver, with JCuda's runtime if that loads; JCuda's alone if the driver's don't load. */
    static CudaCalls calls() {
        if (OBSTACLE.isEmpty()) {
            return NativeLibrary.loadsJCuda() ? new ForeignCallsBesideJCuda() : new ForeignCalls();
        }
        if (NativeLibrary.hasJCuda()) {
            return new JCudaCalls();
        }
        throw new CudaUnavailableException(OBSTACLE);
    }

    /** {@return the driver's name of a code; {@code unknown} if there is no driver, or it knows none} */
    @SuppressWarnings("restricted")
    static String nameOf(final int code) {
        final long[] name = new long[1];
        return OBSTACLE.isEmpty()
                        && call(name, (result, arena) -> (int) Functions.ERROR_NAME.invokeExact(code, result))
                                == CudaCalls.SUCCESS
                ? MemorySegment.ofAddress(name[0]).reinterpret(MOST_NAME_BYTES).getString(0)
                : "unknown";
    }

    @Override
    public int initialize() {
        return call(() -> (int) Functions.INITIALIZE.invokeExact(0));
    }

    @Override
    public int uuid(final byte[] uuid, final int device) {
        return call(new long[1], (unused, arena) -> {
            final MemorySegment result = arena.allocate(UUID_BYTES);
            final int code = (int) Functions.UUID.invokeExact(result, device);
            if (code == CudaCalls.SUCCESS) {
                MemorySegment.copy(result, JAVA_BYTE, 0, uuid, 0, UUID_BYTES);
            }
            return code;
        });
    }

    @Override
    public int totalBytes(final long[] bytes, final int device) {
        return call(bytes, (result, arena) -> (int) Functions.TOTAL.invokeExact(result, device));
    }

    @Override
    public int granularity(final long[] bytes, final int device) {
        return call(bytes, (result, arena) ->
                (int) Functions.GRANULARITY.invokeExact(result, propertiesOf(device, arena), GRANULARITY_MINIMUM));
    }

    @Override
    public int reserve(final long[] address, final long sizeBytes, final long alignmentBytes) {
        return call(address, (result, arena) ->
                (int) Functions.RESERVE.invokeExact(result, sizeBytes, alignmentBytes, 0L, 0L));
    }

    @Override
    public int freeAddresses(final long address, final long sizeBytes) {
        return call(() -> (int) Functions.FREE_ADDRESSES.invokeExact(address, sizeBytes));
    }

    @Override
    public int create(final long[] handle, final long sizeBytes, final int device, final long wantedBytes) {
        return create(handle, sizeBytes, device);
    }

    @Override
    public int create(final long[] handle, final long sizeBytes, final int device) {
        return call(handle, (result, arena) ->
                (int) Functions.CREATE.invokeExact(result, sizeBytes, propertiesOf(device, arena), 0L));
    }

    @Override
    public int release(final long handle) {
        return call(() -> (int) Functions.RELEASE.invokeExact(handle));
    }

    @Override
    public int map(final long address, final long sizeBytes, final long handle) {
        return call(() -> (int) Functions.MAP.invokeExact(address, sizeBytes, 0L, handle, 0L));
    }

    @Override
    public int unmap(final long address, final long sizeBytes) {
        return call(() -> (int) Functions.UNMAP.invokeExact(address, sizeBytes));
    }

    @Override
    public int setAccess(final long address, final long sizeBytes, final int device, final boolean access) {
        return call(new long[1], (unused, arena) -> {
            final MemorySegment wanted = arena.allocate(12, JAVA_INT.byteAlignment());
            setLocation(wanted, 0, device);
            wanted.set(JAVA_INT, 8, access ? READ_AND_WRITE : 0);
            return (int) Functions.SET_ACCESS.invokeExact(address, sizeBytes, wanted, 1L);
        });
    }

    @Override
    public int exportDescriptor(final int[] descriptor, final long handle) {
        final long[] result = new long[1];
        final int code =
                call(result, (segment, arena) -> (int) Functions.EXPORT.invokeExact(segment, handle, DESCRIPTOR, 0L));
        // The driver writes an int into the low half, as little-endian is its only byte order.
        descriptor[0] = code == CudaCalls.SUCCESS ? (int) result[0] : descriptor[0];
        return code;
    }

    /** The driver expects the descriptor itself in the parameter that is declared as a pointer. */
    @Override
    public int importDescriptor(final long[] handle, final int descriptor) {
        return call(handle, (result, arena) ->
                (int) Functions.IMPORT.invokeExact(result, MemorySegment.ofAddress(descriptor), DESCRIPTOR));
    }

    @Override
    public int closeDescriptor(final int descriptor) {
        return call(() -> (int) Functions.CLOSE.invokeExact(descriptor));
    }

    /** Makes the properties of an allocation. All fields that aren't set are 0, as an arena's memory is. */
    private MemorySegment propertiesOf(final int device, final Arena arena) {
        final MemorySegment properties = arena.allocate(32, ADDRESS.byteAlignment());
        properties.set(JAVA_INT, 0, PINNED);
        properties.set(JAVA_INT, 4, handleTypes);
        setLocation(properties, 8, device);
        return properties;
    }

    private static void setLocation(final MemorySegment struct, final long offset, final int device) {
        struct.set(JAVA_INT, offset, LOCATION_DEVICE);
        struct.set(JAVA_INT, offset + Integer.BYTES, device);
    }

    static int call(final Call call) {
        try {
            return call.call();
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int call(final long[] to, final ResultCall call) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code = call.call(result, arena);
            to[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : to[0];
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final Error e) {
            throw e;
        }
        return thrown instanceof final RuntimeException e ? e : new IllegalStateException(thrown);
    }
}
