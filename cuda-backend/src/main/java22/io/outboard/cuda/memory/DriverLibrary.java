package io.outboard.cuda.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What {@link VirtualMemory} and {@link SharedMemory} have in common: how a function of the driver is found, and the struct that says what
 * memory is to be made, in bytes ({@code cuda.h} of CUDA 12, unchanged in 13):
 *
 * <pre>{@code
 *   CUmemAllocationProp, 32 bytes
 *    0  int   type: 1, pinned
 *    4  int   requestedHandleTypes: 0, none; 1, a POSIX file descriptor
 *    8  int   location.type: 1, device
 *   12  int   location.id: the device's number
 *   16  void* win32HandleMetaData: null
 *   24  byte  allocFlags.compressionType: 0, none
 *   25  byte  allocFlags.gpuDirectRDMACapable: 0
 *   26  short allocFlags.usage: 0
 *   28  byte  allocFlags.reserved[4]: 0
 * }</pre>
 *
 * <p>The device's number is the same to the runtime and to the driver. Has no state: what failed to load once would fail otherwise the
 * second time.
 */
final class DriverLibrary {

    /** For memory that stays in this process. */
    static final int NO_HANDLE = 0;

    /** For memory that others map. */
    static final int DESCRIPTOR = 1;

    static final int GRANULARITY_MINIMUM = 0;

    private static final String NAME = "libcuda.so.1";

    private static final long PROPERTIES_BYTES = 32;
    private static final long PROPERTIES_TYPE = 0;
    private static final long PROPERTIES_HANDLE_TYPES = 4;
    private static final long PROPERTIES_LOCATION = 8;
    private static final int PINNED = 1;
    private static final int LOCATION_DEVICE = 1;

    private DriverLibrary() {}

    @SuppressWarnings("restricted")
    static SymbolLookup open() {
        return SymbolLookup.libraryLookup(NAME, Arena.global());
    }

    @SuppressWarnings("restricted")
    static MethodHandle function(final SymbolLookup driver, final String name, final MemoryLayout... parameters) {
        return Linker.nativeLinker()
                .downcallHandle(driver.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, parameters));
    }

    /** What is made where all functions are there; nothing if they aren't, or native access is forbidden. */
    static <T> Optional<T> load(final Supplier<T> calls) {
        try {
            return Optional.of(calls.get());
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

    /** All other fields are 0, as an arena's memory is. */
    static MemorySegment propertiesOf(final int device, final int handleTypes, final Arena arena) {
        final MemorySegment properties = arena.allocate(PROPERTIES_BYTES, ADDRESS.byteAlignment());
        properties.set(JAVA_INT, PROPERTIES_TYPE, PINNED);
        properties.set(JAVA_INT, PROPERTIES_HANDLE_TYPES, handleTypes);
        setLocation(properties, PROPERTIES_LOCATION, device);
        return properties;
    }

    static void setLocation(final MemorySegment struct, final long offset, final int device) {
        struct.set(JAVA_INT, offset, LOCATION_DEVICE);
        struct.set(JAVA_INT, offset + Integer.BYTES, device);
    }

    /** A downcall itself throws nothing, but its signature must allow for everything. */
    static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final Error e) {
            throw e;
        }
        return thrown instanceof final RuntimeException e ? e : new IllegalStateException(thrown);
    }
}
