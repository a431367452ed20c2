package io.outboard.bench.cli.trace;

import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * This class generates eleven traces that show how a strategy behaves: six as ordinary programs make them, five as an
 * adversary would. The same name and number of operations give the same trace, on any machine.
 *
 * <table>
 * <caption>The profiles</caption>
 * <tr><th>name</th><th>generator, seed</th><th>blocks</th><th>each step</th><th>sizes</th><th>region</th></tr>
 * <tr><td>mimalloc</td><td>MT19937, 42</td><td>20 buffers</td><td>replace</td><td>5..25 MiB</td><td>64 GiB</td></tr>
 * <tr><td>paper</td><td>SplitMix64, 1</td><td>20 buffers</td><td>replace</td><td>1 KiB..16 MiB</td><td>64 GiB</td></tr>
 * <tr><td>large</td><td>SplitMix64, 2</td><td>1000 slots</td><td>toggle</td><td>1 KiB..16 MiB</td><td>64 GiB</td></tr>
 * <tr><td>mid</td><td>SplitMix64, 4</td><td>10000 slots</td><td>toggle</td><td>256 B..4 MiB, logarithm uniform</td>
 *     <td>64 GiB</td></tr>
 * <tr><td>small</td><td>SplitMix64, 3</td><td>200000 slots</td><td>toggle</td>
 *     <td>256 B..4 MiB, logarithm uniform</td><td>256 GiB</td></tr>
 * <tr><td>pingpong</td><td>SplitMix64, 5</td><td>1001 slots</td><td>ping-pong</td><td>1 KiB..16 MiB, then 8 MiB</td>
 *     <td>64 GiB</td></tr>
 * <tr><td>fragmenting</td><td>SplitMix64, 6</td><td>50000 holes, 1000 slots</td><td>toggle</td>
 *     <td>1023 or 1055 granules; holes of 1024..1054</td><td>64 GiB</td></tr>
 * <tr><td>sawtooth</td><td>SplitMix64, 7</td><td>10000 slots</td><td>fill all, empty all but 16</td>
 *     <td>256 B..4 MiB, logarithm uniform</td><td>64 GiB</td></tr>
 * <tr><td>two-sizes</td><td>SplitMix64, 8</td><td>10000 holes, 10000 slots</td><td>fill all, empty all</td>
 *     <td>256 KiB, then 512 KiB - 256 B; holes of either</td><td>64 GiB</td></tr>
 * <tr><td>list-borders</td><td>SplitMix64, 9</td><td>10000 slots</td><td>toggle</td>
 *     <td>2^m + k 2^(m-5) granules, and one less and more; m in 6..13, k in 0..31</td><td>64 GiB</td></tr>
 * <tr><td>equal-hashes</td><td>SplitMix64, 10</td><td>1024 blocks whose offsets hash alike</td><td>free and allocate
 * each in turn</td>
 *     <td>8 KiB</td><td>64 GiB</td></tr>
 * </table>
 *
 * <p><em>Replace</em> draws a buffer, then a size; allocates the buffer's new block and then frees its old one.
 * <em>Toggle</em> first fills half of the slots, drawn at random, and then draws a slot each step: frees it if it is
 * full, else draws a size and allocates. <em>Ping-pong</em> allocates 1000 blocks, frees every second, and then
 * allocates and frees one block of 8 MiB over and over. The last five have granules of 256 bytes;
 * {@code AdversarialProfiles} says what each is bad for. {@code mimalloc} is the benchmark {@code malloc-large} of
 * mimalloc-bench with its random stream continued: the same buffers and sizes that a libstdc++ build of it draws.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: 8 host bytes an operation.
 */
public final class Profiles {

    /** The number of operations of the published figures. */
    public static final int DEFAULT_OPERATIONS = 1_000_000;

    /** The least operations of a profile; one step of {@code replace} takes two. */
    public static final int MIN_OPERATIONS = 2;

    private static final List<String> NAMES = Stream.concat(
                    Stream.of("mimalloc", "paper", "large", "mid", "small", "pingpong"),
                    AdversarialProfiles.NAMES.stream())
            .toList();

    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;
    private static final long GIB = 1024 * MIB;
    static final long REGION_BYTES = 64 * GIB;
    private static final int PINGPONG_BLOCKS = 1000;
    private static final int MOST_SCALE = 1000;

    private Profiles() {}

    /**
     * Lists the names that {@link #named} knows.
     *
     * @return names, in the order in which reports list them
     */
    public static List<String> names() {
        return NAMES;
    }

    /**
     * Generates a profile with {@link #DEFAULT_OPERATIONS}.
     *
     * @param name one of {@link #names()}
     * @return the trace, which has the same name
     * @throws IllegalArgumentException if the name is unknown; the message lists the choices
     */
    public static Trace named(final String name) {
        return named(name, DEFAULT_OPERATIONS);
    }

    /**
     * Generates a profile. Fewer operations give the beginning of the same trace, more continue it. A step of two
     * operations isn't begun if only one is left, so a trace may end an operation short.
     *
     * @param name one of {@link #names()}
     * @param operations operations wanted, from 2 to a sixty-fourth of the JVM's largest heap in bytes
     * @return the trace, which has the same name
     * @throws IllegalArgumentException if the name is unknown or the number out of range; the message lists the choices
     */
    public static Trace named(final String name, final int operations) {
        return variant(name, operations, 0, 1);
    }

    /**
     * Generates a profile with another seed: the same distributions, other draws.
     *
     * @param name one of {@link #names()}
     * @param operations as for {@link #named(String, int)}
     * @param variant number that is added to the seed; 0 for the profile itself
     * @param scale how many times as many slots, and so live blocks, {@code large}, {@code mid} and {@code small} have,
     *     from 1 to 1000; other profiles are not scaled
     * @return the trace, which has the profile's name
     * @throws IllegalArgumentException as {@link #named(String, int)}
     */
    public static Trace variant(final String name, final int operations, final int variant, final int scale) {
        if (scale < 1 || scale > MOST_SCALE) {
            throw new IllegalArgumentException("scale=" + scale + " must be >= 1 and <= " + MOST_SCALE);
        }
        if (!NAMES.contains(name)) {
            throw new IllegalArgumentException("profile=" + name + " must be one of: " + String.join(", ", NAMES));
        }
        checkOperations(operations);
        return switch (name) {
            case "mimalloc" -> mimalloc(operations, variant);
            case "paper" -> {
                final SplitMix64 random = new SplitMix64(1L + variant);
                yield replace(name, operations, () -> (int) random.below(20), () -> random.uniform(KIB, 16 * MIB));
            }
            case "large" -> {
                final SplitMix64 random = new SplitMix64(2L + variant);
                yield toggle(
                        name,
                        1_000 * scale,
                        REGION_BYTES * scale,
                        operations,
                        random,
                        () -> random.uniform(KIB, 16 * MIB));
            }
            case "mid" -> {
                final SplitMix64 random = new SplitMix64(4L + variant);
                yield toggle(
                        name, 10_000 * scale, REGION_BYTES * scale, operations, random, () -> random.logUniform(8, 22));
            }
            case "small" -> {
                final SplitMix64 random = new SplitMix64(3L + variant);
                yield toggle(
                        name, 200_000 * scale, 256 * GIB * scale, operations, random, () -> random.logUniform(8, 22));
            }
            case "pingpong" -> pingpong(operations, variant);
            default -> AdversarialProfiles.generate(name, operations, variant);
        };
    }

    private static Trace mimalloc(final int operations, final int variant) {
        final MersenneTwister random = new MersenneTwister(42 + variant);
        return replace(
                "mimalloc", operations, () -> (int) random.below(20), () -> 5 * MIB + random.below(20 * MIB + 1));
    }

    /**
     * Generates steps that replace a buffer. A buffer owns two slots and uses them in turn, since its new block exists
     * beside the old one for a moment.
     */
    private static Trace replace(
            final String name, final int operations, final IntSupplier buffer, final LongSupplier size) {
        final int buffers = 20;
        final OperationList list = new OperationList(operations);
        final long[] liveBytes = new long[2 * buffers];
        final boolean[] second = new boolean[buffers];
        while (list.size() + 2 <= operations) {
            final int drawn = buffer.getAsInt();
            final int old = second[drawn] ? drawn + buffers : drawn;
            final int fresh = second[drawn] ? drawn : drawn + buffers;
            liveBytes[fresh] = size.getAsLong();
            list.add(Trace.allocation(fresh, liveBytes[fresh]));
            if (liveBytes[old] != 0) {
                list.add(Trace.free(old, liveBytes[old]));
                liveBytes[old] = 0;
            }
            second[drawn] = !second[drawn];
        }
        return new Trace(name, 2 * buffers, REGION_BYTES, list.toArray());
    }

    static Trace toggle(
            final String name,
            final int slots,
            final long regionBytes,
            final int operations,
            final SplitMix64 random,
            final LongSupplier size) {
        final OperationList list = new OperationList(operations);
        final long[] liveBytes = new long[slots];
        while (list.size() < operations) {
            final int slot = (int) random.below(slots);
            // Nothing is freed before half of the slots are full, so until then the number of operations is that of
            // full slots.
            final boolean filling = list.size() < slots / 2;
            if (liveBytes[slot] == 0) {
                liveBytes[slot] = size.getAsLong();
                list.add(Trace.allocation(slot, liveBytes[slot]));
            } else if (!filling) {
                list.add(Trace.free(slot, liveBytes[slot]));
                liveBytes[slot] = 0;
            }
        }
        return new Trace(name, slots, regionBytes, list.toArray());
    }

    private static Trace pingpong(final int operations, final int variant) {
        final SplitMix64 random = new SplitMix64(5L + variant);
        final OperationList list = new OperationList(operations);
        final long[] liveBytes = new long[PINGPONG_BLOCKS];
        for (int slot = 0; slot < PINGPONG_BLOCKS && list.size() < operations; slot++) {
            liveBytes[slot] = random.uniform(KIB, 16 * MIB);
            list.add(Trace.allocation(slot, liveBytes[slot]));
        }
        for (int slot = 0; slot < PINGPONG_BLOCKS && list.size() < operations; slot += 2) {
            list.add(Trace.free(slot, liveBytes[slot]));
        }
        while (list.size() + 2 <= operations) {
            list.add(Trace.allocation(PINGPONG_BLOCKS, 8 * MIB));
            list.add(Trace.free(PINGPONG_BLOCKS, 8 * MIB));
        }
        return new Trace("pingpong", PINGPONG_BLOCKS + 1, REGION_BYTES, list.toArray());
    }

    private static void checkOperations(final int operations) {
        final int maximum = Trace.maximumOperations();
        if (operations < MIN_OPERATIONS || operations > maximum) {
            throw new IllegalArgumentException("operations=" + operations + " must be " + MIN_OPERATIONS + ".."
                    + maximum + ", what the heap allows");
        }
    }
}
