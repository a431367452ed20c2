package io.outboard.core;

import io.outboard.core.StrategyModel.Kind;
import io.outboard.core.StrategyModel.Operation;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * Random sequences of operations run on a strategy and on a {@code TreeMap} of live blocks, and both are compared after
 * every step. Each strategy has a subclass that supplies {@link #create} and no more.
 *
 * <p>On failure, jqwik shrinks the sequence and prints it with its seed. This repeats a failure of TLSF: {@code mvn -o
 * verify -pl tlsf -am -Dtest=TlsfModelProperties -Dsurefire.failIfNoSpecifiedTests=false -Doutboard.seed=SEED}. For a
 * longer search, add {@code -Doutboard.long=100}. Without a seed, the next run starts with the one that failed last.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
public abstract class StrategyModelProperties {

    private static final int MAX_STEPS = 200;
    private static final int MAX_BLOCKS = 1024;

    /** With granules of 256 bytes or more, this block has more than a page, so each takes a record, even with pools. */
    private static final Operation ALLOCATE_17_GRANULES = new Operation(Kind.ALLOCATE, 0, 4, 16, 0, 0);

    /**
     * Makes the strategy under test.
     *
     * @param region the region to divide
     * @param options granule and table sizes
     * @return a new strategy, whose region is all free
     */
    protected abstract Strategy create(Region region, StrategyOptions options);

    /**
     * Returns what {@link StrategyFixture#blockBytes} does.
     * @param sizeBytes the requested size
     * @param granuleBytes the strategy's granule
     * @return the block's size in bytes
     */
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return -Math.floorDiv(-sizeBytes, granuleBytes) * granuleBytes;
    }

    /**
     * Tells what {@link StrategyFixture#coalesces} does.
     * @return false for strategies that keep some free neighbours apart
     */
    protected boolean coalesces() {
        return true;
    }

    /**
     * Tells what {@link StrategyFixture#searches} does.
     * @return false for strategies that search no list
     */
    protected boolean searches() {
        return true;
    }

    /**
     * Tells what {@link StrategyFixture#mayTakeLarger} does.
     * @return true for buddies of two systems
     */
    protected boolean mayTakeLarger() {
        return false;
    }

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void shouldBehaveAsItsModelInTinyRegions(
            @ForAll("tinyRegions") final Shape shape, @ForAll("operations") final List<Operation> operations) {
        compare(shape, operations);
    }

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void shouldBehaveAsItsModelInMiddlingRegions(
            @ForAll("middlingRegions") final Shape shape, @ForAll("operations") final List<Operation> operations) {
        compare(shape, operations);
    }

    /**
     * A region has the most granules that 32 bits count: half of all offsets and sizes are negative as an {@code int}.
     */
    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void shouldBehaveAsItsModelInHugeRegions(
            @ForAll("hugeRegions") final Shape shape, @ForAll("operations") final List<Operation> operations) {
        compare(shape, operations);
    }

    /** Some tables have room for hundreds of blocks, even with the fewest first blocks. */
    @Tag("thorough")
    @Property(tries = 60, edgeCases = EdgeCasesMode.NONE)
    void shouldBehaveAsItsModelWhileItsTablesGrow(
            @ForAll("roomyRegions") final Shape shape,
            @ForAll("blocksBefore") final int blocksBefore,
            @ForAll("operations") final List<Operation> operations) {
        final StrategyModel model = model(shape, 4 * MAX_BLOCKS);
        for (int i = 0; i < blocksBefore; i++) {
            model.apply(ALLOCATE_17_GRANULES);
        }
        compare(model, operations);
    }

    private void compare(final Shape shape, final List<Operation> operations) {
        compare(model(shape, MAX_BLOCKS), operations);
    }

    private StrategyModel model(final Shape shape, final int maxBlocks) {
        final StrategyOptions options =
                new StrategyOptions(1L << shape.granuleLog2, maxBlocks).growing(shape.firstBlocks);
        return new StrategyModel(
                create(shape.region(), options), this::blockBytes, coalesces(), searches(), mayTakeLarger());
    }

    private static void compare(final StrategyModel model, final List<Operation> operations) {
        model.check();
        int step = 0;
        for (final Operation operation : operations) {
            try {
                model.apply(operation);
                model.check();
            } catch (final AssertionError | RuntimeException failure) {
                throw new AssertionError("step " + step + ", " + operation + ": " + failure.getMessage(), failure);
            }
            step++;
        }
        model.freeAll();
    }

    @Provide
    Arbitrary<List<Operation>> operations() {
        return anyOperations();
    }

    static Arbitrary<List<Operation>> anyOperations() {
        final Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(6, Kind.ALLOCATE),
                Tuple.of(4, Kind.ALLOCATE_BY_HANDLE),
                Tuple.of(2, Kind.NAME),
                Tuple.of(4, Kind.ALLOCATE_ALIGNED),
                Tuple.of(7, Kind.FREE),
                Tuple.of(3, Kind.TRIM),
                Tuple.of(3, Kind.EXTEND),
                Tuple.of(4, Kind.RETIRE),
                Tuple.of(3, Kind.RELEASE),
                Tuple.of(2, Kind.RESTORE),
                Tuple.of(2, Kind.RETIRE_FREE),
                Tuple.of(1, Kind.WRONG_ADDRESS),
                Tuple.of(1, Kind.WRONG_HANDLE),
                Tuple.of(1, Kind.WRONG_SIZE));
        // Most alignments are small, since a large one makes most requests fail.
        final Arbitrary<Integer> alignments =
                Arbitraries.frequencyOf(Tuple.of(4, uniform(6)), Tuple.of(1, uniform(Integer.SIZE)));
        return Combinators.combine(kinds, uniform(63), uniform(34), uniform(255), uniform(1 << 20), alignments)
                .as(Operation::new)
                .list()
                .ofMaxSize(MAX_STEPS)
                .withSizeDistribution(RandomDistribution.uniform());
    }

    /** Returns regions from the smallest block up. */
    @Provide
    Arbitrary<Shape> tinyRegions() {
        return Combinators.combine(
                        Arbitraries.of(0, 8, 12, 30),
                        Arbitraries.longs().between(blockBytes(1, 1), 64),
                        uniform(40),
                        uniform(300),
                        firstBlocks())
                .as(Shape::new);
    }

    @Provide
    Arbitrary<Shape> middlingRegions() {
        return Combinators.combine(
                        Arbitraries.of(0, 8, 12, 16),
                        Arbitraries.longs().between(65, 1 << 20),
                        uniform(1 << 12),
                        uniform(300),
                        firstBlocks())
                .as(Shape::new);
    }

    @Provide
    Arbitrary<Shape> hugeRegions() {
        return Combinators.combine(
                        Arbitraries.of(0, 8, 12, 28),
                        Arbitraries.of((1L << 32) - 1),
                        uniform(40),
                        uniform(300),
                        firstBlocks())
                .as(Shape::new);
    }

    @Provide
    Arbitrary<Shape> roomyRegions() {
        return Combinators.combine(
                        Arbitraries.of(8, 12),
                        Arbitraries.longs().between(1 << 17, 1 << 20),
                        uniform(1 << 12),
                        uniform(300),
                        Arbitraries.of(1, 7))
                .as(Shape::new);
    }

    /**
     * Returns block counts a little below 218, 446, 666 and 894. Tables with many free lists, or with few, have room
     * for as many blocks, and grow there.
     */
    @Provide
    Arbitrary<Integer> blocksBefore() {
        return Arbitraries.of(200, 430, 650, 880);
    }

    /** Returns how many blocks tables have room for at first: all, or so few that the tables grow a few times. */
    private static Arbitrary<Integer> firstBlocks() {
        return Arbitraries.of(MAX_BLOCKS, 1, 7);
    }

    private static Arbitrary<Integer> uniform(final int max) {
        return Arbitraries.integers().between(0, max).withDistribution(RandomDistribution.uniform());
    }

    /**
     * A shape is a region and its granule.
     * @param granuleLog2 log2 of the granule
     * @param granules whole granules in the region
     * @param firstGranule where the region starts, in granules from a large power of two
     * @param restBytes bytes after the last whole granule, modulo the granule
     * @param firstBlocks how many blocks tables hold before they grow
     */
    record Shape(int granuleLog2, long granules, int firstGranule, int restBytes, int firstBlocks) {

        Region region() {
            final long address = (1L << 61) + ((long) firstGranule << granuleLog2);
            return new Region(address, (granules << granuleLog2) + restBytes % (1L << granuleLog2));
        }
    }
}
