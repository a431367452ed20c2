package examples.fake;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import uk.ac.manchester.tornado.drivers.cuda.ffm.CUDADriverAPI;

/**
 * The program calls CUDA by java.lang.foreign alone, with classes as jextract makes them: each function has a class
 * with its handle. It prints codes, and which answers are as they must be.
 */
public final class PlainProgram {

    private static final int TIMES = 100;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout EXTENT = MemoryLayout.structLayout(
            JAVA_LONG.withName("width"), JAVA_LONG.withName("height"), JAVA_LONG.withName("depth"));

    /** The interface is the type of a reference to a linker's method. */
    private interface HandleMaker {
        MethodHandle make(MemorySegment address, FunctionDescriptor function, Linker.Option... options);
    }

    /** The interface is the type of a reference to a lookup's method. */
    private interface Finder {
        Optional<MemorySegment> find(String name);
    }

    private static final class Driver {
        static final SymbolLookup LIBRARY = library("libcuda.so.1");
    }

    private static final class Initialize {
        static final MethodHandle HANDLE = driver("cuInit", JAVA_INT);
    }

    private static final class Retain {
        static final MethodHandle HANDLE = driver("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
    }

    private static final class Choose {
        static final MethodHandle HANDLE = driver("cuCtxSetCurrent", ADDRESS);
    }

    private static final class Allocate {
        static final MethodHandle HANDLE = driver("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
    }

    private static final class Free {
        static final MethodHandle HANDLE = driver("cuMemFree_v2", JAVA_LONG);
    }

    private static final class Info {
        static final MethodHandle HANDLE = driver("cuMemGetInfo_v2", ADDRESS, ADDRESS);
    }

    private PlainProgram() {}

    /** The arguments: {@code idle}, or {@code driver}, and if there is one, a library of the runtime. */
    public static void main(final String... args) throws Throwable {
        if (args.length > 0 && args[0].equals("idle")) {
            System.out.println("handles: " + Allocate.HANDLE.type() + Free.HANDLE.type());
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(JAVA_LONG);
            int codes = (int) Initialize.HANDLE.invokeExact(0);
            codes |= (int) Retain.HANDLE.invokeExact(result, 0);
            codes |= (int) Choose.HANDLE.invokeExact(MemorySegment.ofAddress(result.get(JAVA_LONG, 0)));
            System.out.println("context: " + codes);
            System.out.println("driver: " + useDriver(result));
            System.out.println("references: " + useReferences(result));
            System.out.println("a binding: " + useBinding(result));
            System.out.println("odd handles: " + useOddHandles());
            System.out.println("free: " + freeBytes(arena));
            System.out.println("too much: " + (int) Allocate.HANDLE.invokeExact(result, 1L << 40));
            if (args.length > 1) {
                useRuntime(library(args[1]), arena);
            }
        }
    }

    private static MethodHandle driver(final String name, final MemoryLayout... parameters) {
        return handle(Driver.LIBRARY, name, parameters);
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup library(final String name) {
        return SymbolLookup.libraryLookup(name, Arena.global());
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(
            final SymbolLookup library, final String name, final MemoryLayout... parameters) {
        return LINKER.downcallHandle(library.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, parameters));
    }

    private static int useDriver(final MemorySegment result) throws Throwable {
        int codes = 0;
        for (int i = 1; i <= TIMES; i++) {
            codes |= (int) Allocate.HANDLE.invokeExact(result, 1000L * i);
            codes |= (int) Free.HANDLE.invokeExact(result.get(JAVA_LONG, 0));
        }
        return codes;
    }

    @SuppressWarnings("restricted")
    private static int useReferences(final MemorySegment result) throws Throwable {
        final Finder finder = Driver.LIBRARY::find;
        final HandleMaker maker = LINKER::downcallHandle;
        final MethodHandle allocate = maker.make(
                finder.find("cuMemAlloc_v2").orElseThrow(), FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
        final MethodHandle free =
                maker.make(finder.find("cuMemFree_v2").orElseThrow(), FunctionDescriptor.of(JAVA_INT, ADDRESS));
        return (int) allocate.invokeExact(result.address(), 5000L)
                | (int) free.invokeExact(MemorySegment.ofAddress(result.get(JAVA_LONG, 0)));
    }

    private static int useBinding(final MemorySegment result) {
        return CUDADriverAPI.cuMemAlloc(result, 3000) | CUDADriverAPI.cuMemFree(result.get(JAVA_LONG, 0));
    }

    /**
     * A handle that keeps errno, one of too small a number, and one without an address; and, not called, one of a size
     * that is an address, and one of an address inside a function.
     */
    @SuppressWarnings("restricted")
    private static int useOddHandles() throws Throwable {
        final MemorySegment free = Driver.LIBRARY.find("cuMemFree_v2").orElseThrow();
        final FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT, JAVA_LONG);
        final MemorySegment state = Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
        int codes = (int) LINKER.downcallHandle(free, type, ERRNO).invokeExact(state, 0L);
        codes |= (int) LINKER.downcallHandle(free, type, ERRNO).invokeExact(state, 0L);
        codes |= (int) LINKER.downcallHandle(free, FunctionDescriptor.of(JAVA_INT, JAVA_SHORT))
                .invokeExact((short) 0);
        codes |= (int) LINKER.downcallHandle(type).invokeExact(free, 0L);
        final MemorySegment allocate = Driver.LIBRARY.find("cuMemAlloc_v2").orElseThrow();
        LINKER.downcallHandle(allocate, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
        final long inside =
                Driver.LIBRARY.find("cuMemAllocPitch_v2").orElseThrow().address() + 1;
        final FunctionDescriptor rows =
                FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT);
        return LINKER.downcallHandle(MemorySegment.ofAddress(inside), rows) == null ? 1 : codes;
    }

    private static String freeBytes(final Arena arena) throws Throwable {
        final MemorySegment free = arena.allocate(JAVA_LONG);
        final MemorySegment total = arena.allocate(JAVA_LONG);
        final int code = (int) Info.HANDLE.invokeExact(free, total);
        return code + ", " + (free.get(JAVA_LONG, 0) >> 20) + " of " + (total.get(JAVA_LONG, 0) >> 20) + " MiB";
    }

    @SuppressWarnings("restricted")
    private static void useRuntime(final SymbolLookup runtime, final Arena arena) throws Throwable {
        final MethodHandle allocate = handle(runtime, "cudaMalloc", ADDRESS, JAVA_LONG);
        final MethodHandle free = handle(runtime, "cudaFree", ADDRESS);
        final MemorySegment result = arena.allocate(ADDRESS);
        int codes = (int) allocate.invokeExact(result, 1000L);
        codes |= (int) free.invokeExact(result.get(ADDRESS, 0));
        System.out.println("runtime: " + codes);
        final MethodHandle allocateSlices = handle(runtime, "cudaMalloc3D", ADDRESS, EXTENT);
        final long[] extent = {100, 3, 2};
        final MemorySegment copy = arena.allocate(EXTENT);
        copy.copyFrom(MemorySegment.ofArray(extent));
        for (final MemorySegment each : new MemorySegment[] {copy, MemorySegment.ofArray(extent)}) {
            final MemorySegment slices = arena.allocate(4 * JAVA_LONG.byteSize());
            codes = (int) allocateSlices.invokeExact(slices, each);
            System.out.println("slices: " + codes + ", " + slices.getAtIndex(JAVA_LONG, 1) + ", "
                    + slices.getAtIndex(JAVA_LONG, 2) + ", " + slices.getAtIndex(JAVA_LONG, 3));
        }
        final MemorySegment small = arena.allocate(JAVA_INT);
        codes = (int) handle(runtime, "cuMemAlloc", ADDRESS, JAVA_INT).invokeExact(small, 1000);
        System.out.println("32 bits: " + codes + ", " + small.get(JAVA_INT, 0));
        final MethodHandle begin = LINKER.downcallHandle(
                runtime.find("cudaStreamBeginCapture").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
                ERRNO);
        codes = (int)
                begin.invokeExact(arena.allocate(Linker.Option.captureStateLayout()), MemorySegment.ofAddress(0x57), 1);
        System.out.println("capture: " + codes);
    }
}
