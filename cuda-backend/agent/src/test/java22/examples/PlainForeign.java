package examples;

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

/** The {@link Buffers} of a program that calls the driver by java.lang.foreign alone. */
public final class PlainForeign extends Buffers {

    private static final int NON_BLOCKING = 1;

    /** The driver's functions; what it calls a handle is an address here. */
    private static final class Driver {

        static final SymbolLookup LIBRARY = library();
        static final MethodHandle INITIALIZE = function("cuInit", JAVA_INT);
        static final MethodHandle RETAIN = function("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
        static final MethodHandle RELEASE = function("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
        static final MethodHandle CHOOSE = function("cuCtxSetCurrent", ADDRESS);
        static final MethodHandle LOAD = function("cuModuleLoadData", ADDRESS, ADDRESS);
        static final MethodHandle FIND = function("cuModuleGetFunction", ADDRESS, ADDRESS, ADDRESS);
        static final MethodHandle MAKE_STREAM = function("cuStreamCreate", ADDRESS, JAVA_INT);
        static final MethodHandle AWAIT_STREAM = function("cuStreamSynchronize", ADDRESS);
        static final MethodHandle DESTROY_STREAM = function("cuStreamDestroy_v2", ADDRESS);
        static final MethodHandle ALLOCATE = function("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
        static final MethodHandle FREE = function("cuMemFree_v2", JAVA_LONG);
        static final MethodHandle COPY = function("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);
        static final MethodHandle LAUNCH = function(
                "cuLaunchKernel",
                ADDRESS,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                ADDRESS,
                ADDRESS,
                ADDRESS);

        private Driver() {}

        @SuppressWarnings("restricted")
        private static SymbolLookup library() {
            return SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
        }

        @SuppressWarnings("restricted")
        private static MethodHandle function(final String name, final MemoryLayout... parameters) {
            return Linker.nativeLinker()
                    .downcallHandle(LIBRARY.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, parameters));
        }
    }

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment fill;
    private final MemorySegment stream;
    private final MemorySegment copy = arena.allocate(JAVA_INT, MOST_WORDS);
    private final MemorySegment buffer = arena.allocate(JAVA_LONG);
    private final MemorySegment words = arena.allocate(JAVA_INT);
    private final MemorySegment content = arena.allocate(JAVA_INT);
    private final MemorySegment parameters = arena.allocate(ADDRESS, 3);

    private PlainForeign(final MemorySegment context, final MemorySegment fill) throws Throwable {
        this.fill = fill;
        check((int) Driver.CHOOSE.invokeExact(context));
        final MemorySegment made = arena.allocate(ADDRESS);
        check((int) Driver.MAKE_STREAM.invokeExact(made, NON_BLOCKING));
        stream = made.get(ADDRESS, 0);
        parameters.setAtIndex(ADDRESS, 0, buffer);
        parameters.setAtIndex(ADDRESS, 1, words);
        parameters.setAtIndex(ADDRESS, 2, content);
    }

    public static void main(final String... args) throws Throwable {
        try (Arena arena = Arena.ofShared()) {
            final MemorySegment result = arena.allocate(ADDRESS);
            check((int) Driver.INITIALIZE.invokeExact(0));
            check((int) Driver.RETAIN.invokeExact(result, 0));
            final MemorySegment context = result.get(ADDRESS, 0);
            check((int) Driver.CHOOSE.invokeExact(context));
            check((int) Driver.LOAD.invokeExact(result, arena.allocateFrom(FILL)));
            final MemorySegment module = result.get(ADDRESS, 0);
            check((int) Driver.FIND.invokeExact(result, module, arena.allocateFrom("fill")));
            final MemorySegment fill = result.get(ADDRESS, 0);
            run(args, () -> new PlainForeign(context, fill));
            check((int) Driver.RELEASE.invokeExact(0));
        }
    }

    @Override
    void allocate(final long bytes) throws Throwable {
        check((int) Driver.ALLOCATE.invokeExact(buffer, bytes));
    }

    @Override
    void fill(final int count, final int value) throws Throwable {
        words.set(JAVA_INT, 0, count);
        content.set(JAVA_INT, 0, value);
        check((int) Driver.LAUNCH.invokeExact(
                fill, grid(count), 1, 1, BLOCK, 1, 1, 0, stream, parameters, MemorySegment.NULL));
    }

    @Override
    void read(final int[] words, final int count) throws Throwable {
        check((int) Driver.COPY.invokeExact(copy, buffer.get(JAVA_LONG, 0), 4L * count, stream));
        check((int) Driver.AWAIT_STREAM.invokeExact(stream));
        MemorySegment.copy(copy, JAVA_INT, 0, words, 0, count);
    }

    @Override
    void free() throws Throwable {
        check((int) Driver.FREE.invokeExact(buffer.get(JAVA_LONG, 0)));
    }

    @Override
    void destroy() throws Throwable {
        check((int) Driver.DESTROY_STREAM.invokeExact(stream));
        arena.close();
    }
}
