package io.outboard.cuda.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The driver's virtual memory calls by {@code java.lang.foreign}, for JDK 22 and newer. What they read is laid out so, in
 * bytes ({@code cuda.h} of CUDA 12, unchanged in 13):
 *
 * <pre>{@code
 *   CUmemAllocationProp, 32 bytes                          CUmemAccessDesc, 12 bytes
 *    0  int   type: 1, pinned                               0  int  location.type: 1, device
 *    4  int   requestedHandleTypes: 0, none                 4  int  location.id: the device's number
 *    8  int   location.type: 1, device                      8  int  flags: 3, read and write
 *   12  int   location.id: the device's number
 *   16  void* win32HandleMetaData: null
 *   24  byte  allocFlags.compressionType: 0, none
 *   25  byte  allocFlags.gpuDirectRDMACapable: 0
 *   26  short allocFlags.usage: 0
 *   28  byte  allocFlags.reserved[4]: 0
 * }</pre>
 *
 * <p>The device's number is the same to the runtime and to the driver. Safe for any number of threads.
 */
public final class VirtualMemory implements VirtualMemoryCalls {

    private static final String LIBRARY = "libcuda.so.1";

    private static final long PROPERTIES_BYTES = 32;
    private static final long PROPERTIES_TYPE = 0;
    private static final long PROPERTIES_LOCATION = 8;
    private static final int PINNED = 1;

    private static final long ACCESS_BYTES = 12;
    private static final long ACCESS_LOCATION = 0;
    private static final long ACCESS_FLAGS = 8;
    private static final int NOTHING = 0;
    private static final int READ_AND_WRITE = 3;

    private static final int LOCATION_DEVICE = 1;
    private static final int GRANULARITY_MINIMUM = 0;

    /** In constants, so that calls are compiled; apart, so that a driver that lacks one is found out by loading them. */
    private static final class Functions {

        static final SymbolLookup DRIVER = driver();
        static final MethodHandle GRANULARITY = function("cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
        static final MethodHandle RESERVE =
                function("cuMemAddressReserve", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final MethodHandle CREATE = function("cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
        static final MethodHandle MAP = function("cuMemMap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final MethodHandle SET_ACCESS = function("cuMemSetAccess", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
        static final MethodHandle UNMAP = function("cuMemUnmap", JAVA_LONG, JAVA_LONG);
        static final MethodHandle RELEASE = function("cuMemRelease", JAVA_LONG);
        static final MethodHandle FREE_ADDRESSES = function("cuMemAddressFree", JAVA_LONG, JAVA_LONG);
        static final MethodHandle SYNCHRONIZE = function("cuCtxSynchronize");

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
    }

    private static final Optional<VirtualMemoryCalls> FOUND = load();

    /** By device: read and write, and neither, made once. */
    private final Map<Integer, MemorySegment> accesses = new ConcurrentHashMap<>();

    private final Map<Integer, MemorySegment> refusals = new ConcurrentHashMap<>();

    private VirtualMemory() {}

    private static Optional<VirtualMemoryCalls> load() {
        try {
            Objects.requireNonNull(Functions.DRIVER, "the driver");
            return Optional.of(new VirtualMemory());
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
    public static Optional<VirtualMemoryCalls> find() {
        return FOUND;
    }

    @Override
    public int granularity(final long[] bytes, final int device) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code =
                    (int) Functions.GRANULARITY.invokeExact(result, propertiesOf(device, arena), GRANULARITY_MINIMUM);
            bytes[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : bytes[0];
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int reserve(final long[] address, final long sizeBytes, final long alignmentBytes) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code = (int) Functions.RESERVE.invokeExact(result, sizeBytes, alignmentBytes, 0L, 0L);
            address[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : address[0];
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int create(final long[] handle, final long sizeBytes, final int device) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code = (int) Functions.CREATE.invokeExact(result, sizeBytes, propertiesOf(device, arena), 0L);
            handle[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : handle[0];
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int map(final long address, final long sizeBytes, final long handle) {
        try {
            return (int) Functions.MAP.invokeExact(address, sizeBytes, 0L, handle, 0L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int setAccess(final long address, final long sizeBytes, final int device, final boolean access) {
        final MemorySegment wanted = access
                ? accesses.computeIfAbsent(device, number -> accessOf(number, READ_AND_WRITE))
                : refusals.computeIfAbsent(device, number -> accessOf(number, NOTHING));
        try {
            return (int) Functions.SET_ACCESS.invokeExact(address, sizeBytes, wanted, 1L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    private static MemorySegment accessOf(final int device, final int flags) {
        final MemorySegment access = Arena.global().allocate(ACCESS_BYTES, JAVA_INT.byteAlignment());
        setLocation(access, ACCESS_LOCATION, device);
        access.set(JAVA_INT, ACCESS_FLAGS, flags);
        return access;
    }

    @Override
    public int unmap(final long address, final long sizeBytes) {
        try {
            return (int) Functions.UNMAP.invokeExact(address, sizeBytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
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
    public int freeAddresses(final long address, final long sizeBytes) {
        try {
            return (int) Functions.FREE_ADDRESSES.invokeExact(address, sizeBytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int synchronize() {
        try {
            return (int) Functions.SYNCHRONIZE.invokeExact();
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /** All other fields are 0, as an arena's memory is. */
    private static MemorySegment propertiesOf(final int device, final Arena arena) {
        final MemorySegment properties = arena.allocate(PROPERTIES_BYTES, ADDRESS.byteAlignment());
        properties.set(JAVA_INT, PROPERTIES_TYPE, PINNED);
        setLocation(properties, PROPERTIES_LOCATION, device);
        return properties;
    }

    private static void setLocation(final MemorySegment struct, final long offset, final int device) {
        struct.set(JAVA_INT, offset, LOCATION_DEVICE);
        struct.set(JAVA_INT, offset + Integer.BYTES, device);
    }

    /** A downcall itself throws nothing, but its signature must allow for everything. */
    private static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final Error e) {
            throw e;
        }
        return thrown instanceof final RuntimeException e ? e : new IllegalStateException(thrown);
    }
}
