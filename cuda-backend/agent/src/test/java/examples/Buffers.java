package examples;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What a thread of the program has: a stream, and one buffer at a time, by the calls of one binding. Some threads
 * allocate a buffer, have a kernel fill it, check every hundredth, and free it at once, while a kernel may run.
 *
 * <pre>java ... examples.BINDINGBuffers [ROUNDS [THREADS]]</pre>
 *
 * <p>The output says whether the buffers held what was written; the error output says how long calls that allocate and
 * free took.
 */
abstract class Buffers {

    static final int LEAST_WORDS = 1_000;
    static final int MOST_WORDS = 500_000;
    static final int BLOCK = 256;

    /** The kernel writes a value into each of so many words. */
    static final String FILL = """
            .version 6.0
            .target sm_50
            .address_size 64

            .visible .entry fill(.param .u64 words, .param .u32 count, .param .u32 value)
            {
                .reg .pred %p<2>;
                .reg .b32 %r<7>;
                .reg .b64 %rd<4>;

                ld.param.u64 %rd1, [words];
                ld.param.u32 %r1, [count];
                ld.param.u32 %r2, [value];
                mov.u32 %r3, %ctaid.x;
                mov.u32 %r4, %ntid.x;
                mov.u32 %r5, %tid.x;
                mad.lo.u32 %r6, %r3, %r4, %r5;
                setp.ge.u32 %p1, %r6, %r1;
                @%p1 bra done;
                mul.wide.u32 %rd2, %r6, 4;
                cvta.to.global.u64 %rd3, %rd1;
                add.u64 %rd3, %rd3, %rd2;
                st.global.u32 [%rd3], %r2;
            done:
                ret;
            }
            """;

    private static final int THREADS = 4;
    private static final int ROUNDS = 2_000;
    private static final int WARM_UP_ROUNDS = 200;
    private static final int CHECKED = 100;
    private static final long LONG_NS = 100_000;

    abstract void allocate(long bytes) throws Throwable;

    /** Launches the kernel, and doesn't wait for it. */
    abstract void fill(int count, int value) throws Throwable;

    /** Copies the buffer's first words, when all that was launched has ended. */
    abstract void read(int[] words, int count) throws Throwable;

    abstract void free() throws Throwable;

    /** Destroys the stream. */
    abstract void destroy() throws Throwable;

    /** Makes what a thread has. */
    interface Maker {

        Buffers make() throws Throwable;
    }

    /** Runs the program; each thread makes buffers of its own. */
    static void run(final String[] args, final Maker maker) throws Exception {
        final int rounds = args.length > 0 ? Integer.parseInt(args[0]) : ROUNDS;
        final int threads = args.length > 1 ? Integer.parseInt(args[1]) : THREADS;
        run(threads, WARM_UP_ROUNDS, maker);
        final long[] outcome = run(threads, rounds, maker);
        System.out.println("wrong words: " + outcome[0]);
        System.err.printf(
                Locale.ROOT,
                "calls: %d, %.3f ms, of which %.3f ms are in calls of more than 0.1 ms%n",
                2L * threads * rounds,
                outcome[1] / 1e6,
                outcome[2] / 1e6);
    }

    /** Returns the number of wrong words, the nanoseconds in calls, and those in long calls. */
    private static long[] run(final int threads, final int rounds, final Maker maker) throws Exception {
        final ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            final List<Callable<long[]>> tasks = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                final Random random = new Random(thread);
                tasks.add(() -> {
                    try {
                        final Buffers buffers = maker.make();
                        final long[] outcome = buffers.use(rounds, random);
                        buffers.destroy();
                        return outcome;
                    } catch (final Throwable e) {
                        throw new IllegalStateException(e);
                    }
                });
            }
            final long[] sums = new long[3];
            for (final Future<long[]> each : executor.invokeAll(tasks)) {
                final long[] part = each.get();
                Arrays.setAll(sums, i -> sums[i] + part[i]);
            }
            return sums;
        } finally {
            executor.shutdown();
        }
    }

    private long[] use(final int rounds, final Random random) throws Throwable {
        final int[] copy = new int[MOST_WORDS];
        long wrong = 0;
        final long[] ns = new long[2];
        for (int round = 0; round < rounds; round++) {
            final int count = LEAST_WORDS + random.nextInt(MOST_WORDS - LEAST_WORDS);
            final long before = System.nanoTime();
            allocate(4L * count);
            add(ns, System.nanoTime() - before);
            fill(count, round);
            if (round % CHECKED == 0) {
                read(copy, count);
                wrong += wrongWords(copy, count, round);
            }
            final long freed = System.nanoTime();
            free();
            add(ns, System.nanoTime() - freed);
        }
        return new long[] {wrong, ns[0], ns[1]};
    }

    private static void add(final long[] ns, final long more) {
        ns[0] += more;
        ns[1] += more > LONG_NS ? more : 0;
    }

    static long wrongWords(final int[] words, final int count, final int value) {
        return Arrays.stream(words, 0, count).filter(word -> word != value).count();
    }

    static int grid(final int count) {
        return (count + BLOCK - 1) / BLOCK;
    }

    static void check(final int code) {
        if (code != 0) {
            throw new IllegalStateException("code=" + code + " must be 0");
        }
    }
}
