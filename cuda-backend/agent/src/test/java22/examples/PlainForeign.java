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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The program calls the driver by java.lang.foreign alone: some threads allocate a buffer, have a kernel fill it, check
 * every hundredth, and free it at once, while a kernel may run.
 *
 * <p>The output says whether the buffers held what was written; the error output says how long calls that allocate and
 * free took.
 */
public final class PlainForeign {

    private static final int THREADS = 4;
    private static final int ROUNDS = 2_000;
    private static final int WARM_UP_ROUNDS = 200;
    private static final int CHECKED = 100;
    private static final int LEAST_WORDS = 1_000;
    private static final int MOST_WORDS = 500_000;
    private static final int BLOCK = 256;
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

    private PlainForeign() {}

    public static void main(final String... args) throws Throwable {
        try (Arena arena = Arena.ofShared()) {
            final MemorySegment result = arena.allocate(ADDRESS);
            check((int) Driver.INITIALIZE.invokeExact(0));
            check((int) Driver.RETAIN.invokeExact(result, 0));
            final MemorySegment context = result.get(ADDRESS, 0);
            check((int) Driver.CHOOSE.invokeExact(context));
            check((int) Driver.LOAD.invokeExact(result, arena.allocateFrom(JavaCppBuffers.FILL)));
            final MemorySegment module = result.get(ADDRESS, 0);
            check((int) Driver.FIND.invokeExact(result, module, arena.allocateFrom("fill")));
            final MemorySegment fill = result.get(ADDRESS, 0);

            run(context, fill, WARM_UP_ROUNDS);
            final int rounds = args.length > 0 ? Integer.parseInt(args[0]) : ROUNDS;
            final long[] outcome = run(context, fill, rounds);
            System.out.println("wrong words: " + outcome[0]);
            System.err.printf(Locale.ROOT, "calls: %d, %.3f ms%n", 2L * THREADS * rounds, outcome[1] / 1e6);
            check((int) Driver.RELEASE.invokeExact(0));
        }
    }

    /** Returns the number of wrong words and the nanoseconds in calls. */
    private static long[] run(final MemorySegment context, final MemorySegment fill, final int rounds)
            throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            final List<Callable<long[]>> tasks = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                final int seed = thread;
                tasks.add(() -> {
                    try (Arena arena = Arena.ofConfined()) {
                        return useBuffers(context, fill, rounds, new Random(seed), arena);
                    } catch (final Throwable e) {
                        throw new IllegalStateException(e);
                    }
                });
            }
            final long[] sums = new long[2];
            for (final Future<long[]> each : threads.invokeAll(tasks)) {
                sums[0] += each.get()[0];
                sums[1] += each.get()[1];
            }
            return sums;
        } finally {
            threads.shutdown();
        }
    }

    private static long[] useBuffers(
            final MemorySegment context,
            final MemorySegment fill,
            final int rounds,
            final Random random,
            final Arena arena)
            throws Throwable {
        check((int) Driver.CHOOSE.invokeExact(context));
        final MemorySegment result = arena.allocate(ADDRESS);
        check((int) Driver.MAKE_STREAM.invokeExact(result, NON_BLOCKING));
        final MemorySegment stream = result.get(ADDRESS, 0);
        final MemorySegment copy = arena.allocate(JAVA_INT, MOST_WORDS);
        final MemorySegment buffer = arena.allocate(JAVA_LONG);
        final MemorySegment words = arena.allocate(JAVA_INT);
        final MemorySegment content = arena.allocate(JAVA_INT);
        final MemorySegment parameters = arena.allocate(ADDRESS, 3);
        parameters.setAtIndex(ADDRESS, 0, buffer);
        parameters.setAtIndex(ADDRESS, 1, words);
        parameters.setAtIndex(ADDRESS, 2, content);
        long wrong = 0;
        long ns = 0;
        for (int round = 0; round < rounds; round++) {
            final int count = LEAST_WORDS + random.nextInt(MOST_WORDS - LEAST_WORDS);
            final long before = System.nanoTime();
            check((int) Driver.ALLOCATE.invokeExact(buffer, 4L * count));
            ns += System.nanoTime() - before;
            words.set(JAVA_INT, 0, count);
            content.set(JAVA_INT, 0, round);
            check((int) Driver.LAUNCH.invokeExact(
                    fill, (count + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, parameters, MemorySegment.NULL));
            if (round % CHECKED == 0) {
                check((int) Driver.COPY.invokeExact(copy, buffer.get(JAVA_LONG, 0), 4L * count, stream));
                check((int) Driver.AWAIT_STREAM.invokeExact(stream));
                for (int i = 0; i < count; i++) {
                    wrong += copy.getAtIndex(JAVA_INT, i) == round ? 0 : 1;
                }
            }
            final long freed = System.nanoTime();
            check((int) Driver.FREE.invokeExact(buffer.get(JAVA_LONG, 0)));
            ns += System.nanoTime() - freed;
        }
        check((int) Driver.DESTROY_STREAM.invokeExact(stream));
        return new long[] {wrong, ns};
    }

    private static void check(final int code) {
        if (code != 0) {
            throw new IllegalStateException("code=" + code + " must be 0");
        }
    }
}
