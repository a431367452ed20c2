package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** A random program runs step after step, and follows its plan or not. */
class PlannedStrategyProperties {

    private static final long GRANULE = 256;
    private static final Region REGION = new Region(1L << 40, 4096 * GRANULE);
    private static final StrategyOptions OPTIONS =
            StrategyOptions.DEFAULTS.withGranuleBytes(GRANULE).withMaxBlocks(4096);

    /** A program has operations: the number of a block to allocate, or minus the number minus 1, of a block to free. */
    private record Program(List<Integer> operations, List<Plan.Block> blocks, long planBytes) {

        Plan plan() {
            return Plan.of(GRANULE, planBytes, blocks);
        }

        long sizeBytes(final int block) {
            return blocks.get(block).sizeBytes();
        }
    }

    /** Returns a program in which each block has a random free place. No strategy would come to such a plan. */
    private static Program program(final SplittableRandom random, final int length) {
        final List<Integer> operations = new ArrayList<>();
        final List<long[]> blocks = new ArrayList<>();
        final List<Integer> live = new ArrayList<>();
        final TreeMap<Long, Long> taken = new TreeMap<>();
        final long planGranules = 1024;
        while (operations.size() < length) {
            final long size = 1L + random.nextInt(random.nextInt(40) + 1);
            final long offset = random.nextLong(planGranules - size);
            final Map.Entry<Long, Long> below = taken.lowerEntry(offset + size);
            if ((below == null || below.getValue() <= offset) && random.nextInt(5) < 3) {
                live.add(blocks.size());
                taken.put(offset, offset + size);
                blocks.add(
                        new long[] {size * GRANULE - random.nextInt((int) GRANULE), offset, operations.size(), length});
                operations.add(blocks.size() - 1);
            } else if (!live.isEmpty()) {
                final int freed = live.remove(random.nextInt(live.size()));
                taken.remove(blocks.get(freed)[1]);
                blocks.get(freed)[3] = operations.size();
                operations.add(-freed - 1);
            }
        }
        return new Program(
                operations,
                blocks.stream()
                        .map(block -> new Plan.Block(block[0], block[1] * GRANULE, (int) block[2], (int) block[3]))
                        .toList(),
                planGranules * GRANULE);
    }

    /** The live blocks are held by address; a new block must not overlap any of them. */
    private static final class Live {

        private final TreeMap<Long, Long> ends = new TreeMap<>();

        void add(final Strategy strategy, final long address, final long sizeBytes) {
            final long end = address + strategy.sizeOf(address);
            final Map.Entry<Long, Long> below = ends.lowerEntry(end);
            assertTrue(below == null || below.getValue() <= address, "overlap at " + address);
            assertTrue(address >= REGION.address() && end <= REGION.endAddress() && end - address >= sizeBytes);
            ends.put(address, end);
        }

        void freeAll(final Strategy strategy) {
            ends.keySet().forEach(strategy::free);
            ends.clear();
        }
    }

    @Property(tries = 300)
    void shouldFollowThePlanInARegionOfItsSizeStepAfterStep(
            @ForAll final long seed, @ForAll @IntRange(min = 1, max = 200) final int length) {
        final Program program = program(new SplittableRandom(seed), length);
        final Region region = new Region(REGION.address(), program.planBytes());
        final PlannedStrategy strategy = new PlannedStrategy(region, OPTIONS, program.plan());

        for (int step = 0; step < 3; step++) {
            strategy.step();
            final Live live = new Live();
            for (final int operation : program.operations()) {
                if (operation < 0) {
                    final long address = region.address()
                            + program.blocks().get(-operation - 1).offsetBytes();
                    strategy.free(address);
                    live.ends.remove(address);
                } else {
                    final long address = strategy.allocate(program.sizeBytes(operation));
                    assertEquals(
                            region.address() + program.blocks().get(operation).offsetBytes(), address);
                    live.add(strategy, address, program.sizeBytes(operation));
                }
            }
            live.freeAll(strategy);
            assertEquals(strategy.region().sizeBytes(), Statistics.of(strategy).largestFreeBlockBytes());
        }
    }

    /** At any of its requests, a step asks for another size, or it leaves some out; and frees come late or early. */
    @Property(tries = 500)
    void shouldServeADeviationAnywhereAndComeBackWithTheNextStep(
            @ForAll final long seed, @ForAll @IntRange(min = 2, max = 200) final int length) {
        final SplittableRandom random = new SplittableRandom(seed);
        final Program program = program(random, length);
        final PlannedStrategy strategy = new PlannedStrategy(REGION, OPTIONS, program.plan());
        final int deviatesAt = random.nextInt(program.blocks().size());
        final Live live = new Live();

        for (int block = 0; block < program.blocks().size(); block++) {
            final long sizeBytes = program.sizeBytes(block) + (block == deviatesAt ? GRANULE : 0);
            final long address = strategy.allocate(sizeBytes);
            if (address == Strategy.NO_SPACE) {
                assertTrue(
                        Statistics.of(strategy).largestFreeBlockBytes() < sizeBytes, "refused though there was room");
                break;
            }
            live.add(strategy, address, sizeBytes);
            while (random.nextInt(3) == 0 && !live.ends.isEmpty()) {
                final List<Long> addresses = List.copyOf(live.ends.keySet());
                final long freed = addresses.get(random.nextInt(addresses.size()));
                strategy.free(freed);
                live.ends.remove(freed);
            }
        }
        live.freeAll(strategy);
        assertEquals(REGION.sizeBytes(), Statistics.of(strategy).largestFreeBlockBytes());
        strategy.step();

        for (final int operation : program.operations()) {
            if (operation < 0) {
                strategy.free(
                        REGION.address() + program.blocks().get(-operation - 1).offsetBytes());
            } else {
                assertEquals(
                        REGION.address() + program.blocks().get(operation).offsetBytes(),
                        strategy.allocate(program.sizeBytes(operation)));
            }
        }
    }

    /**
     * Steps have blocks that are larger, smaller, missing or more than planned, and keep some to the next step. Whatever
     * they ask for, blocks never overlap, and only what no free block has room for is refused.
     */
    @Property(tries = 500)
    void shouldNeverOverlapWhateverAProgramAsksFor(
            @ForAll final long seed, @ForAll @IntRange(min = 1, max = 16) final int deviatesOneIn) {
        final SplittableRandom random = new SplittableRandom(seed);
        final Program program = program(random, 400);
        final Region region = new Region(REGION.address(), (900 + random.nextInt(400)) * GRANULE);
        final PlannedStrategy strategy = new PlannedStrategy(region, OPTIONS, program.plan());
        final Live live = new Live();

        for (int step = 0; step < 4; step++) {
            strategy.step();
            final long[] addresses = new long[program.blocks().size()];
            for (final int operation : program.operations()) {
                final int block = operation < 0 ? -operation - 1 : operation;
                final boolean deviates = random.nextInt(deviatesOneIn) == 0;
                if (operation < 0) {
                    if (addresses[block] != 0 && !deviates) {
                        strategy.free(addresses[block]);
                        live.ends.remove(addresses[block]);
                    }
                    continue;
                }
                final long planned = program.sizeBytes(block);
                addresses[block] = switch (deviates ? random.nextInt(4) : 0) {
                    case 1 -> 0;
                    case 2 -> allocate(strategy, live, 1 + random.nextLong(2 * planned), GRANULE);
                    case 3 -> allocate(strategy, live, planned, GRANULE << random.nextInt(8));
                    default -> allocate(strategy, live, planned, GRANULE);
                };
                if (deviates && random.nextBoolean()) {
                    allocate(strategy, live, GRANULE * (1 + random.nextInt(60)), GRANULE);
                }
            }
            if (random.nextBoolean()) {
                live.freeAll(strategy);
            }
        }
        live.freeAll(strategy);
        assertEquals(region.sizeBytes(), Statistics.of(strategy).largestFreeBlockBytes());
    }

    /** Returns an address, or 0 if the request is refused because no free block has room. */
    private static long allocate(
            final PlannedStrategy strategy, final Live live, final long sizeBytes, final long alignmentBytes) {
        final long most = Statistics.of(strategy).largestFreeBlockBytes();
        final long address = strategy.allocate(sizeBytes, alignmentBytes);
        if (address == Strategy.NO_SPACE) {
            assertTrue(most < sizeBytes + alignmentBytes, () -> "refused " + sizeBytes + " though there was room");
            return 0;
        }
        assertEquals(0, address % alignmentBytes);
        assertTrue(address + sizeBytes <= strategy.region().endAddress());
        live.add(strategy, address, sizeBytes);
        return address;
    }

    /**
     * The region is too small for the plan, or full of blocks that don't belong to the plan. Only a request that no
     * free block has room for is refused.
     */
    @Property(tries = 500)
    void shouldRefuseOnlyWhatNoFreeBlockHasRoomFor(
            @ForAll final long seed, @ForAll @IntRange(min = 1, max = 900) final int regionGranules) {
        final SplittableRandom random = new SplittableRandom(seed);
        final Program program = program(random, 300);
        final Region region = new Region(REGION.address(), regionGranules * GRANULE);
        final PlannedStrategy strategy = new PlannedStrategy(region, OPTIONS, program.plan());
        final Live live = new Live();

        for (int i = 0; i < program.blocks().size(); i++) {
            final long sizeBytes = random.nextInt(50) == 0 ? GRANULE * (1L + random.nextInt(60)) : program.sizeBytes(i);
            final long before = Statistics.of(strategy).largestFreeBlockBytes();
            final long address = strategy.allocate(sizeBytes);
            if (address == Strategy.NO_SPACE) {
                assertTrue(before < sizeBytes, () -> "refused " + sizeBytes + " though " + before + " were free");
            } else {
                live.add(strategy, address, sizeBytes);
            }
            if (random.nextInt(2) == 0 && !live.ends.isEmpty()) {
                final Long freed = live.ends.ceilingKey(REGION.address() + random.nextLong(region.sizeBytes()));
                if (freed != null) {
                    strategy.free(freed);
                    live.ends.remove(freed);
                }
            }
        }
        live.freeAll(strategy);
        strategy.step();
        // All of the region is asked for at once, which is no size of the plan.
        assertNotEquals(Strategy.NO_SPACE, strategy.allocate(region.sizeBytes()));
        assertEquals(0, strategy.freeBytes());
    }

    @Property(tries = 100)
    void shouldPlaceAsTlsfDoesOnceAProgramIsLost(@ForAll final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final PlannedStrategy strategy =
                new PlannedStrategy(REGION, OPTIONS, program(random, 10).plan());
        final TlsfStrategy tlsf = new TlsfStrategy(REGION, OPTIONS);
        final List<Long> live = new ArrayList<>();
        while (strategy.followsPlan()) {
            strategy.free(strategy.allocate(2000 * GRANULE));
            tlsf.free(tlsf.allocate(2000 * GRANULE));
        }

        for (int step = 0; step < 200; step++) {
            final long sizeBytes = GRANULE * (1 + random.nextInt(300));
            final long alignmentBytes = GRANULE << Math.max(0, random.nextInt(8) - 4);
            final long address = strategy.allocate(sizeBytes, alignmentBytes);
            assertEquals(tlsf.allocate(sizeBytes, alignmentBytes), address);
            if (address != Strategy.NO_SPACE) {
                live.add(address);
            }
            if (random.nextInt(3) > 0 && !live.isEmpty()) {
                final long freed = live.remove(random.nextInt(live.size()));
                strategy.free(freed);
                tlsf.free(freed);
            }
        }
    }

    @Property(tries = 300)
    void shouldGoOnAsIfNothingHadBeenAfterTakingBack(@ForAll final long seed) {
        final Program program = program(new SplittableRandom(seed), 50);
        final PlannedStrategy strategy = new PlannedStrategy(REGION, OPTIONS, program.plan());

        for (int block = 0; block < program.blocks().size(); block++) {
            // Each of these many would count as unexpected if it weren't taken back.
            strategy.takeBack(strategy.allocate(2000 * GRANULE));
            strategy.takeBack(
                    strategy.allocate(program.sizeBytes(program.blocks().size() - 1 - block)));
            final long once = strategy.allocate(program.sizeBytes(block));
            strategy.takeBack(once);
            assertTrue(strategy.followsPlan());
            assertEquals(once, strategy.allocate(program.sizeBytes(block)));
        }
    }

    /** Planned places and aligned ones are cut out of blocks anywhere in their lists, as is what a search finds. */
    @Property(tries = 300)
    void shouldPutWhatABlockWasCutFromBackIntoItsPlace(@ForAll final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final Program program = program(random, 100);
        final PlannedStrategy strategy = new PlannedStrategy(REGION, OPTIONS, program.plan());
        final List<Long> live = new ArrayList<>();
        int block = 0;

        for (int step = 0; step < 200; step++) {
            final boolean planned = block < program.blocks().size() && random.nextInt(8) > 0;
            final long sizeBytes = planned ? program.sizeBytes(block) : GRANULE * (1 + random.nextInt(300));
            final long alignmentBytes = GRANULE << Math.max(0, random.nextInt(8) - 4);
            final List<Long> before = freeBlocks(strategy);
            final long address = strategy.allocate(sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE) {
                strategy.takeBack(address);
                assertEquals(before, freeBlocks(strategy));
                live.add(strategy.allocate(sizeBytes, alignmentBytes));
                assertEquals(address, live.get(live.size() - 1));
                block++;
            }
            if (random.nextInt(3) > 0 && !live.isEmpty()) {
                strategy.free(live.remove(random.nextInt(live.size())));
            }
        }
    }

    /** Returns the addresses in the order of the lists. */
    private static List<Long> freeBlocks(final PlannedStrategy strategy) {
        final List<Long> addresses = new ArrayList<>();
        strategy.forEachFree(GRANULE, (block, address, sizeBytes) -> addresses.add(address));
        return addresses;
    }
}
