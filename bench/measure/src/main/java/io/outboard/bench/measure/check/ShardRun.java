package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyProvider;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The run draws a shard's operations and does them. A shard is a row of parts, each with a {@link Load}: blocks are
 * allocated and freed around a target number that changes, then all are freed, and the strategy has to be like a new
 * one.
 *
 * <p>Checks that walk over all blocks are the rarer, the longer a walk takes, so that they take a small part of the
 * time.
 *
 * <p>Confined to one thread.
 */
final class ShardRun {

    /** The number of operations between two reports of progress. */
    private static final int REPORT = 1 << 16;

    /**
     * The estimated time of a walk without blocks, from which its frequency follows; measured on one machine,
     * 2026-11-23, and only rough.
     */
    private static final long NS_A_WALK = 2_000;

    private static final long NS_A_BLOCK = 20;
    /** The estimated time of a block in a walk that only looks at the names of blocks in use. */
    private static final long NS_A_NAME = 1;

    private static final long GRANULES_A_NS = 64;

    /**
     * The time that walks may add to an operation on average, here for whole checks, below for calls with wrong
     * addresses and for parts of free blocks.
     */
    private static final long WHOLE_CHECK_NS = 20;

    private static final long WRONG_ADDRESS_NS = 20;
    private static final long FREE_PARTS_NS = 10;
    private static final long WRONG_HANDLE_NS = 10;

    private static final int WRONG_SIZE_PERIOD = 64;
    private static final int HUGE_REQUEST_PERIOD = 512;
    private static final int PROBE_OPERATIONS = 256;

    private final StrategyProvider provider;
    private final Shard shard;
    private final SplitMix64 random;
    private final Shape shape;
    private final StrategyRules rules;
    private final CheckedStrategy checked;
    private final IntervalModel model;
    private final SlotList inUse;
    private final SlotList retired;
    private final WholeCheck whole;
    private final WrongCalls wrong;
    private final WrongHandles wrongHandles;

    /** The strategy, if it retires parts of blocks; null if not. */
    private final @Nullable PartRetiringStrategy parts;

    private final @Nullable FreeParts freeParts;

    private Load load;
    private long operation;
    private int goal;
    private long untilGoal;
    private long untilWhole;
    private long untilWrong;
    private long untilParts;
    private long untilWrongHandle;

    /** {@code provider} makes the strategy; the strategy's name decides which rules are checked. */
    ShardRun(final StrategyProvider provider, final Shard shard) {
        this.provider = provider;
        this.shard = shard;
        random = new SplitMix64(shard.randomSeed());
        rules = StrategyRules.of(provider.name());
        shape = Shape.of(rules, shard.number(), random);
        checked = new CheckedStrategy(
                provider.create(shape.region(), shape.options()),
                rules,
                shape.options().maxBlocks());
        model = checked.model();
        inUse = checked.inUse();
        retired = checked.retired();
        whole = new WholeCheck(checked);
        wrong = new WrongCalls(checked, random);
        wrongHandles = new WrongHandles(checked, random);
        parts = checked.strategy() instanceof PartRetiringStrategy retiring ? retiring : null;
        freeParts = parts == null ? null : new FreeParts(checked, parts, random);
        load = new Load(shape, rules, random);
    }

    /** Does the operations. {@code progress} is told from time to time how many more operations were done. */
    ShardResult run(final LongConsumer progress) {
        final long from = System.nanoTime();
        @Nullable String violation = null;
        try {
            while (operation < shard.operations()) {
                runPart(progress);
            }
        } catch (final ViolationException e) {
            violation = e.getMessage();
        } catch (final RuntimeException | AssertionError e) {
            violation = "an unexpected " + e;
        }
        // The time is in whole milliseconds, since the file has no more digits.
        final long milliseconds = (System.nanoTime() - from) / 1_000_000;
        return new ShardResult(
                shard,
                operation,
                checked.names().operations(),
                wrongHandles.refused(),
                checked.digest(),
                milliseconds / 1e3,
                violation);
    }

    private void runPart(final LongConsumer progress) {
        load = new Load(shape, rules, random);
        final long end = Math.min(shard.operations(), operation + load.operations());
        untilWhole = wholePeriod();
        untilGoal = 0;
        long reported = operation;
        while (operation < end) {
            operation++;
            step();
            if (operation - reported == REPORT) {
                progress.accept(REPORT);
                reported = operation;
            }
        }
        whole.run();
        while (model.blocks() != 0) {
            operation++;
            drain();
        }
        whole.run();
        checkAsNew();
        progress.accept(operation - reported);
    }

    private void drain() {
        if (retired.size() == 0 || (inUse.size() != 0 && random.below(2) == 0)) {
            free(any(inUse));
        } else {
            checked.release(any(retired));
        }
    }

    private void checkAsNew() {
        final Strategy fresh = provider.create(shape.region(), shape.options());
        if (!whole.showsTheSameAs(fresh)) {
            throw new ViolationException(
                    "with nothing in use, the walk shows other blocks than that of a new strategy");
        }
        if (random.below(2) == 0) {
            checked.allocate(
                    shape.region().sizeBytes() + 1 + random.below(shape.region().sizeBytes()), 0, random.below(2) == 0);
        }
        new TwinProbe(checked.strategy(), fresh, load, random).run(PROBE_OPERATIONS);
        whole.run();
    }

    private long walkNs() {
        return NS_A_WALK + NS_A_BLOCK * model.blocks() + (rules.hasTable() ? 0 : model.granules() / GRANULES_A_NS);
    }

    private long wholePeriod() {
        return walkNs() / WHOLE_CHECK_NS;
    }

    private void step() {
        if (--untilGoal < 0) {
            goal = (int) random.below(load.mostBlocks() + 1L);
            untilGoal = random.below(4L * load.mostBlocks()) + 16;
        }
        if (--untilWhole < 0) {
            whole.run();
            untilWhole = wholePeriod();
        }
        if (--untilWrong < 0) {
            untilWrong = random.below(2 * walkNs() / WRONG_ADDRESS_NS);
            wrong.wrongAddress();
        } else if (--untilWrongHandle < 0) {
            untilWrongHandle = random.below(2 * (NS_A_WALK + NS_A_NAME * model.blocks()) / WRONG_HANDLE_NS);
            wrongHandles.run();
        } else if (--untilParts < 0) {
            untilParts = random.below(2 * walkNs() / FREE_PARTS_NS);
            retireFreePart();
        } else {
            common();
        }
    }

    private void retireFreePart() {
        if (freeParts != null && model.hasSlots(2)) {
            freeParts.retire();
        }
    }

    private void common() {
        final int draw = (int) random.below(256);
        if (inUse.size() == 0 && retired.size() == 0) {
            allocate();
        } else if (draw < 160 || inUse.size() == 0) {
            towardsGoal();
        } else if (draw < 184) {
            retireOrRelease();
        } else if (draw < 190) {
            checked.restore(any(retired.size() == 0 ? retireOne() : retired));
        } else if (draw < 208) {
            final int slot = any(inUse);
            checked.trim(slot, shorter(slot));
        } else if (draw < 226) {
            extend(any(inUse));
        } else if (draw < 234) {
            if (parts != null && model.hasSlots(1)) {
                final int slot = any(inUse);
                checked.retireTail(parts, slot, shorter(slot));
            }
        } else if (draw < 238) {
            checked.rename(any(inUse));
        } else if (random.below(WRONG_SIZE_PERIOD) == 0) {
            wrong.wrongSize();
        } else {
            checked.checkSize(any(inUse));
        }
    }

    private SlotList retireOne() {
        checked.retire(any(inUse));
        return retired;
    }

    private void towardsGoal() {
        final boolean grow = (model.blocks() < goal) == (random.below(8) != 0);
        if (grow && model.hasSlots(1) && model.blocks() <= load.mostBlocks()) {
            allocate();
        } else if (inUse.size() != 0) {
            free(any(inUse));
        } else {
            checked.release(any(retired));
        }
    }

    /** Retires a block, or releases a retired one, so that at most a quarter of all blocks are retired. */
    private void retireOrRelease() {
        if (4 * retired.size() < inUse.size() && random.below(3) != 0) {
            checked.retire(any(inUse));
        } else if (retired.size() != 0) {
            checked.release(any(retired));
        } else {
            free(any(inUse));
        }
    }

    private void allocate() {
        final long granuleBytes = shape.options().granuleBytes();
        final int draw = (int) random.below(HUGE_REQUEST_PERIOD);
        final long sizeBytes;
        if (draw == 0 && rules.hasTable()) {
            sizeBytes = random.below(2) == 0 ? Long.MAX_VALUE - random.below(1 << 20) : checked.bytes(model.granules());
        } else if (draw < HUGE_REQUEST_PERIOD / 16 && inUse.size() != 0) {
            // The request is about as large as a free stretch behind a block: one granule less, exactly, or one more.
            sizeBytes = checked.bytes(Math.max(1, model.roomBehind(any(inUse)) + random.below(3) - 1));
        } else {
            sizeBytes = load.sizeBytes(granuleBytes) - random.below(granuleBytes);
        }
        final long alignmentBytes = random.below(4) == 0 ? load.alignmentBytes(granuleBytes) : 0;
        final boolean granted = checked.allocate(sizeBytes, alignmentBytes, load.byHandle());
        if (!granted && random.below(8) == 0) {
            goal = model.blocks() * 3 / 4;
        }
    }

    private void free(final int slot) {
        wrong.remember(slot);
        checked.free(slot);
    }

    private long shorter(final int slot) {
        final long sizeBytes = checked.bytes(model.size(slot));
        return random.below(4) == 0
                ? sizeBytes - random.below(Math.min(sizeBytes, shape.options().granuleBytes()))
                : 1 + random.below(sizeBytes);
    }

    private void extend(final int slot) {
        final long sizeBytes = checked.bytes(model.size(slot));
        final long room = model.roomBehind(slot);
        final long more = switch ((int) random.below(4)) {
            case 0 -> 0;
            case 1 -> room;
            case 2 -> room + 1;
            default -> 1 + random.below(Math.max(1, room));
        };
        checked.extend(
                slot,
                sizeBytes + checked.bytes(more) - random.below(shape.options().granuleBytes()));
    }

    private int any(final SlotList slots) {
        return slots.get((int) random.below(slots.size()));
    }
}
