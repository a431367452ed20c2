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
import java.util.NoSuchElementException;
import java.util.Optional;

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
    private static final int READ_AND_WRITE = 3;

    private static final int LOCATION_DEVICE = 1;
    private static final int GRANULARITY_MINIMUM = 0;

    private final MethodHandle granularity;
    private final MethodHandle reserve;
    private final MethodHandle create;
    private final MethodHandle map;
    private final MethodHandle setAccess;
    private final MethodHandle unmap;
    private final MethodHandle release;
    private final MethodHandle freeAddresses;
    private final MethodHandle synchronize;

    private VirtualMemory(final SymbolLookup library) {
        granularity = function(library, "cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
        reserve = function(library, "cuMemAddressReserve", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        create = function(library, "cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
        map = function(library, "cuMemMap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        setAccess = function(library, "cuMemSetAccess", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
        unmap = function(library, "cuMemUnmap", JAVA_LONG, JAVA_LONG);
        release = function(library, "cuMemRelease", JAVA_LONG);
        freeAddresses = function(library, "cuMemAddressFree", JAVA_LONG, JAVA_LONG);
        synchronize = function(library, "cuCtxSynchronize");
    }

    /**
     * Finds the calls.
     *
     * @return them, or nothing where the driver isn't there or lacks them, or the program forbids native access
     */
    @SuppressWarnings("restricted")
    public static Optional<VirtualMemoryCalls> find() {
        try {
            return Optional.of(new VirtualMemory(SymbolLookup.libraryLookup(LIBRARY, Arena.global())));
        } catch (final IllegalArgumentException | NoSuchElementException | IllegalCallerException e) {
            // No library; no function; --illegal-native-access=deny.
            return Optional.empty();
        }
    }

    @Override
    public int granularity(final long[] bytes, final int device) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code = (int) granularity.invokeExact(result, propertiesOf(device, arena), GRANULARITY_MINIMUM);
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
            final int code = (int) reserve.invokeExact(result, sizeBytes, alignmentBytes, 0L, 0L);
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
            final int code = (int) create.invokeExact(result, sizeBytes, propertiesOf(device, arena), 0L);
            handle[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : handle[0];
            return code;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int map(final long address, final long sizeBytes, final long handle) {
        try {
            return (int) map.invokeExact(address, sizeBytes, 0L, handle, 0L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int setAccess(final long address, final long sizeBytes, final int device) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment access = arena.allocate(ACCESS_BYTES, JAVA_INT.byteAlignment());
            setLocation(access, ACCESS_LOCATION, device);
            access.set(JAVA_INT, ACCESS_FLAGS, READ_AND_WRITE);
            return (int) setAccess.invokeExact(address, sizeBytes, access, 1L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int unmap(final long address, final long sizeBytes) {
        try {
            return (int) unmap.invokeExact(address, sizeBytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int release(final long handle) {
        try {
            return (int) release.invokeExact(handle);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int freeAddresses(final long address, final long sizeBytes) {
        try {
            return (int) freeAddresses.invokeExact(address, sizeBytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int synchronize() {
        try {
            return (int) synchronize.invokeExact();
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

    @SuppressWarnings("restricted")
    private static MethodHandle function(
            final SymbolLookup library, final String name, final MemoryLayout... parameters) {
        return Linker.nativeLinker()
                .downcallHandle(library.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, parameters));
    }

    /** A downcall itself throws nothing, but its signature must allow for everything. */
    private static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final Error e) {
            throw e;
        }
        return thrown instanceof final RuntimeException e ? e : new IllegalStateException(thrown);
    }
}
