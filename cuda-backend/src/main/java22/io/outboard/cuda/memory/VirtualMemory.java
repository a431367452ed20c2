package io.outboard.cuda.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The driver's virtual memory calls by {@code java.lang.foreign}, for JDK 22 and newer. What they read is laid out so, in
 * bytes ({@code cuda.h} of CUDA 12, unchanged in 13):
 *
 * <pre>{@code
 *   CUmemAccessDesc, 12 bytes
 *    0  int  location.type: 1, device
 *    4  int  location.id: the device's number
 *    8  int  flags: 3, read and write
 * }</pre>
 *
 * <p>What memory is made by is drawn in {@link DriverLibrary}. Safe for any number of threads.
 */
public final class VirtualMemory implements VirtualMemoryCalls {

    private static final long ACCESS_BYTES = 12;
    private static final long ACCESS_LOCATION = 0;
    private static final long ACCESS_FLAGS = 8;
    private static final int NOTHING = 0;
    private static final int READ_AND_WRITE = 3;

    /** In constants, so that calls are compiled; apart, so that a driver that lacks one is found out by loading them. */
    private static final class Functions {

        static final SymbolLookup DRIVER = DriverLibrary.open();
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

        private static MethodHandle function(final String name, final MemoryLayout... parameters) {
            return DriverLibrary.function(DRIVER, name, parameters);
        }
    }

    private static final Optional<VirtualMemoryCalls> FOUND = load();

    /** By device: read and write, and neither, made once. */
    private final Map<Integer, MemorySegment> accesses = new ConcurrentHashMap<>();

    private final Map<Integer, MemorySegment> refusals = new ConcurrentHashMap<>();

    private VirtualMemory() {}

    private static Optional<VirtualMemoryCalls> load() {
        return DriverLibrary.load(() -> {
            Objects.requireNonNull(Functions.DRIVER, "the driver");
            return new VirtualMemory();
        });
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
            final int code = (int) Functions.GRANULARITY.invokeExact(
                    result,
                    DriverLibrary.propertiesOf(device, DriverLibrary.NO_HANDLE, arena),
                    DriverLibrary.GRANULARITY_MINIMUM);
            bytes[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : bytes[0];
            return code;
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
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
            throw DriverLibrary.unexpected(e);
        }
    }

    @Override
    public int create(final long[] handle, final long sizeBytes, final int device) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            final int code = (int) Functions.CREATE.invokeExact(
                    result, sizeBytes, DriverLibrary.propertiesOf(device, DriverLibrary.NO_HANDLE, arena), 0L);
            handle[0] = code == CudaCalls.SUCCESS ? result.get(JAVA_LONG, 0) : handle[0];
            return code;
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    @Override
    public int map(final long address, final long sizeBytes, final long handle) {
        try {
            return (int) Functions.MAP.invokeExact(address, sizeBytes, 0L, handle, 0L);
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
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
            throw DriverLibrary.unexpected(e);
        }
    }

    private static MemorySegment accessOf(final int device, final int flags) {
        final MemorySegment access = Arena.global().allocate(ACCESS_BYTES, JAVA_INT.byteAlignment());
        DriverLibrary.setLocation(access, ACCESS_LOCATION, device);
        access.set(JAVA_INT, ACCESS_FLAGS, flags);
        return access;
    }

    @Override
    public int unmap(final long address, final long sizeBytes) {
        try {
            return (int) Functions.UNMAP.invokeExact(address, sizeBytes);
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
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
    public int freeAddresses(final long address, final long sizeBytes) {
        try {
            return (int) Functions.FREE_ADDRESSES.invokeExact(address, sizeBytes);
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    @Override
    public int synchronize() {
        try {
            return (int) Functions.SYNCHRONIZE.invokeExact();
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }
}
