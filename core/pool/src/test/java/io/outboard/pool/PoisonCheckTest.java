package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.Program;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs that write where they mustn't, to memory that the pool has filled. */
class PoisonCheckTest {

    private static final long MIB = 1L << 20;
    private static final long DEVICE = 64 * MIB;
    private static final long STREAM = 3;

    private static final int FRESH = 0xFF;

    /** Pools are closed with blocks in use, which they say. */
    private final Warnings warnings = new Warnings();

    private final SimulatedDevice device = new SimulatedDevice();
    private final FailingMemorySource source = new FailingMemorySource(DEVICE).growingInPlace();
    private final SimulatedMemory memory = new SimulatedMemory(source, device);
    private final ConcurrentLinkedQueue<MemoryCorruptionException> found = new ConcurrentLinkedQueue<>();
    private final Pool pool = pool(ReusePolicy.STRICT, builder -> builder.check(found::add));

    private Pool pool(final ReusePolicy policy, final UnaryOperator<PoolBuilder> change) {
        return change.apply(
                        Pool.over(memory).reuse(policy, device).name("checked").firstRegionBytes(2 * MIB))
                .build();
    }

    @AfterEach
    void close() {
        pool.close();
        warnings.close();
    }

    private MemoryCorruptionException only() {
        assertEquals(1, found.size(), found::toString);
        return found.remove();
    }

    private static String stacks(final MemoryCorruptionException of) {
        return Arrays.stream(of.getSuppressed())
                .map(each -> each.getMessage() + " " + each.getStackTrace()[0].getMethodName())
                .collect(Collectors.joining(", "));
    }

    private static void assertFound(
            final MemoryCorruptionException actual, final long address, final long sizeBytes, final long offsetBytes) {
        assertAll(
                () -> assertEquals(address, actual.address()),
                () -> assertEquals(sizeBytes, actual.sizeBytes()),
                () -> assertEquals(offsetBytes, actual.offsetBytes()));
    }

    @Test
    void shouldFindAWriteBehindTheEndAtTheFree() {
        final long address = Program.allocate(pool, 1000);
        memory.write(address + 1001, 7);
        memory.write(address + 1003, 7);

        Program.free(pool, address);

        final MemoryCorruptionException thrown = only();
        assertFound(thrown, address, 1000, 1001);
        assertEquals("allocated here allocate, freed here free", stacks(thrown));
        final String message = String.valueOf(thrown.getMessage());
        assertTrue(
                message.matches("pool checked: 0x07 was written at offset 1001, behind the end of block \\[0x"
                        + Long.toHexString(address)
                        + ", 1000 bytes, allocated at examples.Program.allocate\\(Program.java:\\d+\\)\\], freed at"
                        + " examples.Program.free\\(Program.java:\\d+\\)"),
                message);
    }

    @Test
    void shouldFindAWriteBehindTheEndAtTheClose() {
        final long address = Program.allocate(pool, 1000);
        memory.write(address + 1000, 7);

        close();

        final MemoryCorruptionException thrown = only();
        assertFound(thrown, address, 1000, 1000);
        assertEquals("allocated here allocate", stacks(thrown));
    }

    @Test
    void shouldFindAWriteAfterTheFreeWhenTheMemoryIsHandedOutAgain() {
        final Pool reusing =
                pool(ReusePolicy.IMMEDIATE, builder -> builder.name("reusing").check(found::add));
        final long address = Program.allocate(reusing, 5000);
        Program.free(reusing, address);
        memory.write(address + 4999, 7);

        final long next = reusing.allocate(4096);
        assertEquals(address, next);
        // The first wrong byte lies behind the new block and its red zone.
        assertEquals(List.of(), List.copyOf(found));
        assertEquals(address + 4608, reusing.allocate(100));

        reusing.close();

        final MemoryCorruptionException thrown = only();
        assertFound(thrown, address, 5000, 4999);
        assertEquals("allocated here allocate, freed here free", stacks(thrown));
        final String message = String.valueOf(thrown.getMessage());
        assertTrue(message.contains("at offset 4999, after the free of block ["), message);
    }

    @Test
    void shouldFindAWriteAfterTheFreeAtTheClose() {
        final long address = Program.allocate(pool, 3 * MIB);
        Program.free(pool, address);
        memory.write(address + 2 * MIB + 1, 7);

        close();

        assertFound(only(), address, 3 * MIB, 2 * MIB + 1);
    }

    @Test
    void shouldFindAWriteAfterTheFreeBeforeTheMemoryGoesBack() {
        final long address = pool.allocate(10 * MIB);
        pool.free(address);
        memory.write(address + 9 * MIB, 7);

        assertEquals(0, pool.trimTo(0));

        assertFound(only(), address, 10 * MIB, 9 * MIB);
    }

    /** Another pool's request makes this one give memory back, on a thread that may know nothing of the handler. */
    @Test
    void shouldReportOnACallOfTheProgram() {
        final long address = pool.allocate(10 * MIB);
        pool.free(address);
        memory.write(address + 9 * MIB, 7);

        pool.idle.giveBack(DEVICE);

        assertEquals(0, pool.statistics().heldBytes());
        assertEquals(List.of(), List.copyOf(found));
        pool.free(pool.allocate(1000));
        assertFound(only(), address, 10 * MIB, 9 * MIB);
    }

    @Test
    void shouldFindAWriteAfterTheFreeBeforeAWholeRegionGoesBack() {
        final Pool whole = pool(
                ReusePolicy.STRICT,
                builder -> builder.name("whole").growInPlace(false).check(found::add));
        final long address = whole.allocate(10 * MIB);
        whole.free(address);
        memory.write(address, 7);

        assertEquals(0, whole.trimTo(0));

        assertFound(only(), address, 10 * MIB, 0);
        whole.close();
    }

    @Test
    void shouldFindAWriteAfterTheFreeBeforeTheMemoryMoves() {
        final List<Long> blocks = new ArrayList<>();
        for (long left = DEVICE; left > 0; left -= 4 * MIB) {
            blocks.add(pool.allocate(4 * MIB - 512));
        }
        for (int i = 0; i < blocks.size(); i += 2) {
            pool.free(blocks.get(i));
            memory.write(blocks.get(i) + 5, 7);
        }

        pool.allocate(DEVICE / 2 - 512);

        assertTrue(source.moves() > 0);
        assertEquals(blocks.size() / 2, found.size());
    }

    @Test
    void shouldFindAllWhenAsked() {
        final long used = pool.allocate(1000);
        final long freed = pool.allocate(1000);
        memory.write(used + 1200, 7);
        pool.free(freed);
        memory.write(freed, 7);

        pool.checkMemory();
        pool.checkMemory();

        assertEquals(
                List.of(used, freed),
                found.stream().map(MemoryCorruptionException::address).toList());
    }

    @Test
    void shouldFillFreshMemory() {
        final Pool reusing =
                pool(ReusePolicy.IMMEDIATE, builder -> builder.name("reusing").check(found::add));
        final long used = reusing.allocate(1000);
        reusing.free(used);

        final long address = reusing.allocate(100);

        assertEquals(used, address);
        for (int i = 0; i < 100; i++) {
            assertEquals(FRESH, memory.read(address + i) & 0xFF);
        }
        assertNotEquals(FRESH, memory.read(address + 100) & 0xFF);
        reusing.close();
    }

    @Test
    void shouldVerifyTheRedZoneAtATrim() {
        final long address = pool.allocate(5000);
        memory.write(address + 5000, 7);

        pool.trim(address, 1000);

        assertFound(only(), address, 5000, 5000);
        assertEquals(1000, pool.sizeOf(address));
    }

    @Test
    void shouldFindAWriteToTheTailThatWasTrimmed() {
        final long address = pool.allocate(5000);
        pool.trim(address, 1000);
        memory.write(address + 4000, 7);

        pool.free(address);

        assertFound(only(), address, 1000, 4000);
    }

    @Test
    void shouldVerifyTheRedZoneWhenABlockIsExtended() {
        final long address = pool.allocate(1000);
        memory.write(address + 999, 1);
        memory.write(address + 1000, 7);

        assertTrue(pool.extend(address, 3 * MIB));

        assertFound(only(), address, 1000, 1000);
        assertEquals(1, memory.read(address + 999));
        assertEquals(FRESH, memory.read(address + 1000) & 0xFF);
        assertEquals(FRESH, memory.read(address + 3 * MIB - 1) & 0xFF);
        assertEquals(3 * MIB, pool.sizeOf(address));
    }

    @Test
    void shouldFindAWriteAfterTheFreeWhenANeighbourIsExtended() {
        final long address = pool.allocate(1000);
        final long freed = pool.allocate(1000);
        pool.free(freed);
        memory.write(freed + 3, 7);
        // This asks the device, so that the block leaves limbo.
        pool.trimTo(0);

        assertTrue(pool.extend(address, 3000));
        assertFound(only(), freed, 1000, 3);
        memory.write(address + 3000, 7);
        pool.free(address);

        assertFound(only(), address, 3000, 3000);
    }

    @Test
    void shouldExtendWithinWhatATrimKept() {
        final long address = pool.allocate(5000);
        final long next = pool.allocate(100);
        pool.trim(address, 1000);

        assertTrue(pool.extend(address, 5000));
        assertFalse(pool.extend(address, 6000));

        assertEquals(5000, pool.sizeOf(address));
        assertThrows(IllegalArgumentException.class, () -> pool.extend(address, 4999));
        assertThrows(IllegalArgumentException.class, () -> pool.trim(address, 5001));
        assertThrows(IllegalArgumentException.class, () -> pool.trim(address, 0));
        assertThrows(InvalidAddressException.class, () -> pool.trim(next + 1, 1));
        assertThrows(InvalidAddressException.class, () -> pool.extend(next + 1, 1));
        pool.free(address);
        assertEquals(List.of(), List.copyOf(found));
    }

    @Test
    void shouldTellSizesAsTheyWereAskedFor() {
        final long address = pool.allocate(1000);
        try (DeviceBuffer buffer = pool.buffer(77)) {
            assertEquals(1000, pool.sizeOf(address));
            assertEquals(77, buffer.sizeBytes());
            assertEquals(77, pool.sizeOf(buffer.address()));
        }
        assertThrows(InvalidAddressException.class, () -> pool.sizeOf(address + 256));
        assertThrows(InvalidAddressException.class, () -> pool.free(address + 256));
        pool.free(address);
        assertThrows(InvalidAddressException.class, () -> pool.free(address));
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(0));
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(Long.MAX_VALUE));
        assertEquals(0, pool.statistics().liveBlocks());
    }

    /** A kernel may write to its block until it ends, which may be after the free. */
    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldWaitForTheWorkThatUsesABlock(final ReusePolicy policy) {
        final Pool waiting = pool(policy, builder -> builder.name("waiting").check(found::add));
        final long plain = waiting.allocate(1000);
        final long ordered = waiting.allocateAsync(1000, STREAM);
        device.submit(1, () -> memory.write(plain + 3, 7));
        device.submit(STREAM, () -> memory.write(ordered + 3, 7));
        device.submit(2);

        waiting.freeAsync(ordered, STREAM);
        assertEquals(policy != ReusePolicy.STREAM_ORDERED, device.hasFinished(2, 1));
        waiting.free(plain);
        assertTrue(device.hasFinished(2, 1));

        waiting.close();
        assertEquals(List.of(), List.copyOf(found));
    }

    @Test
    void shouldWaitThoughNoMarkIsLeft() {
        device.mostMarks(1);
        final long address = pool.allocate(1000);
        final long mark = device.mark();
        device.submit(1, () -> memory.write(address + 1001, 7));
        final Thread releases = new Thread(() -> device.release(mark));
        releases.start();

        pool.free(address);

        assertFound(only(), address, 1000, 1001);
    }

    /** While a stream is captured nobody may wait, fill or read. */
    @Test
    void shouldLeaveAloneWhatACaptureMayUse() {
        final long before = pool.allocate(1000);
        final long freed = pool.allocate(1000);
        pool.free(freed);
        memory.write(before + 1000, 7);
        memory.write(freed, 7);
        device.capturing(true);
        final long during = pool.allocate(1000);
        final long accesses = memory.accesses();

        pool.free(before);
        memory.write(during + 1000, 7);
        pool.extend(during, 1001);
        pool.checkMemory();

        assertEquals(accesses, memory.accesses());
        device.capturing(false);
        pool.free(during);
        assertEquals(List.of(), List.copyOf(found));
        pool.checkMemory();
        assertFound(only(), freed, 1000, 0);
    }

    /** Without an order of streams, a free on a stream waits for the others, too. */
    @Test
    void shouldWaitForAllStreamsUnlessFreesAreOrdered() {
        final long address = pool.allocate(1000);
        device.submit(STREAM + 1, () -> memory.write(address + 9, 7));
        device.submit(STREAM);

        pool.freeAsync(address, STREAM);
        device.finishAll();

        close();
        assertEquals(List.of(), List.copyOf(found));
    }

    /** Nobody can wait for the kernel, so its block must not be filled for whoever comes next on the stream. */
    @Test
    void shouldNotFillABlockThatItCouldNotWaitForWhenTheStreamReusesIt() {
        final Pool ordered = pool(
                ReusePolicy.STREAM_ORDERED, builder -> builder.name("ordered").check(found::add));
        final long address = ordered.allocateAsync(4000, STREAM);
        device.submit(STREAM, () -> memory.write(address + 3900, 7));
        device.capturing(true);
        ordered.freeAsync(address, STREAM);
        device.capturing(false);

        final long next = ordered.allocateAsync(3500, STREAM);
        device.finishAll();
        ordered.freeAsync(next, STREAM);

        ordered.close();
        assertEquals(List.of(), List.copyOf(found));
    }

    /** The capture may have ended by the time at which the memory is filled, but nobody has waited. */
    @Test
    void shouldLeaveAloneWhatItCouldNotWaitFor() {
        final SimulatedDevice captured = new SimulatedDevice();
        captured.capturing(true);
        final Pool waiting = pool(
                ReusePolicy.STRICT,
                builder -> builder.reuse(ReusePolicy.STRICT, captured)
                        .name("waiting")
                        .check(found::add));
        final long first = waiting.allocate(1000);
        final long second = waiting.allocate(1000);
        final long accesses = memory.accesses();

        waiting.free(first);
        waiting.trim(second, 100);

        assertEquals(accesses, memory.accesses());
        waiting.close();
    }

    @Test
    void shouldFreeAllTheSameWhenTheHandlerThrows() {
        final Pool throwing = pool(
                ReusePolicy.IMMEDIATE,
                builder -> builder.name("throwing").check(each -> {
                    throw each;
                }));
        final long first = throwing.allocate(1000);
        final long second = throwing.allocate(1000);
        memory.write(first + 1000, 7);
        assertThrows(MemoryCorruptionException.class, () -> throwing.free(first));
        assertThrows(InvalidAddressException.class, () -> throwing.free(first));

        throwing.free(second);
        memory.write(second, 7);
        final MemoryCorruptionException thrown =
                assertThrows(MemoryCorruptionException.class, () -> throwing.allocate(4000));
        assertFound(thrown, second, 1000, 0);
        assertEquals(0, throwing.statistics().liveBlocks());

        final long third = throwing.allocate(1000);
        memory.write(third + 1000, 7);
        assertFound(assertThrows(MemoryCorruptionException.class, throwing::close), third, 1000, 1000);
    }

    @Test
    void shouldFreeAllTheSameWhenTheDeviceFails() {
        final long address = pool.allocate(1000);
        device.failAt(1, () -> new IllegalStateException("device"));

        assertThrows(IllegalStateException.class, () -> pool.free(address));

        assertEquals(0, pool.statistics().liveBlocks());
    }

    @Test
    void shouldRefuseASourceWhoseMemoryNobodyCanRead() {
        final PoolBuilder builder = Pool.over(new VirtualMemorySource()).check(found::add);

        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, builder::build);

        assertTrue(String.valueOf(thrown.getMessage()).contains("must be an AccessibleMemorySource"));
    }

    @Test
    void shouldDoNothingUnlessAsked() {
        final Pool off = pool(ReusePolicy.STRICT, builder -> builder.name("off"));
        final long address = off.allocate(1000);
        assertEquals(1024, off.sizeOf(address));
        off.trim(address, 100);
        assertEquals(256, off.sizeOf(address));
        off.free(address);
        off.checkMemory();
        off.close();

        assertEquals(0, memory.accesses());
    }

    // Random operations

    @ParameterizedTest
    @CsvSource({"STRICT, true", "STREAM_ORDERED, true", "IMMEDIATE, true", "STRICT, false", "STREAM_ORDERED, false"})
    void shouldFindNothingInACleanProgram(final ReusePolicy policy, final boolean inPlace) throws Exception {
        final int threads = 4;
        final long seed = ThreadLocalRandom.current().nextLong();
        final Pool clean = pool(
                policy,
                builder -> builder.name("clean")
                        .growInPlace(inPlace)
                        .spread(threads)
                        .check(found::add));
        final ExecutorService all = Executors.newFixedThreadPool(threads);
        final List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final int stream = 10 + i;
            ends.add(all.submit(() -> runClean(clean, new SplittableRandom(seed + stream), stream)));
        }
        all.shutdown();
        for (final Future<?> end : ends) {
            end.get();
        }

        assertEquals(0, clean.statistics().liveBlocks());
        clean.close();
        assertEquals(List.of(), List.copyOf(found), "seed " + seed);
    }

    private void runClean(final Pool clean, final SplittableRandom random, final long stream) {
        final NavigableMap<Long, Long> blocks = new TreeMap<>();
        for (int i = 0; i < 25_000; i++) {
            final boolean takes = blocks.isEmpty() || (blocks.size() < 40 && random.nextInt(5) < 3);
            if (takes) {
                final long sizeBytes = 1 + random.nextLong(random.nextInt(50) == 0 ? MIB : 4000);
                final boolean ordered = random.nextBoolean();
                try {
                    final long address = ordered ? clean.allocateAsync(sizeBytes, stream) : clean.allocate(sizeBytes);
                    blocks.put(address, sizeBytes);
                } catch (final DeviceOutOfMemoryException e) {
                    release(clean, blocks, random, stream);
                }
            } else {
                release(clean, blocks, random, stream);
            }
            if (random.nextInt(500) == 0) {
                clean.trimTo(random.nextLong(DEVICE));
            }
        }
        while (!blocks.isEmpty()) {
            release(clean, blocks, random, stream);
        }
    }

    /** Uses a block by work that ends after its free, resizes it now and then, and frees it. */
    private void release(
            final Pool clean, final NavigableMap<Long, Long> blocks, final SplittableRandom random, final long stream) {
        if (blocks.isEmpty()) {
            return;
        }
        final long at = blocks.firstKey() + random.nextLong(blocks.lastKey() - blocks.firstKey() + 1);
        final Map.Entry<Long, Long> chosen = blocks.floorEntry(at);
        final long address = chosen.getKey();
        blocks.remove(address);
        long sizeBytes = chosen.getValue();
        if (random.nextInt(10) == 0) {
            sizeBytes = 1 + random.nextLong(sizeBytes);
            clean.trim(address, sizeBytes);
        }
        if (random.nextInt(10) == 0 && clean.extend(address, sizeBytes + 2000)) {
            sizeBytes += 2000;
        }
        final long last = address + sizeBytes - 1;
        device.submit(stream, () -> {
            memory.write(address, 7);
            memory.write(last, 7);
        });
        if (random.nextBoolean()) {
            clean.freeAsync(address, stream);
        } else {
            clean.free(address);
        }
    }

    /** Each wrong write is found once, with the block and the offset, wherever the memory goes. */
    @ParameterizedTest
    @CsvSource({"STRICT, true", "STREAM_ORDERED, true", "IMMEDIATE, true", "STRICT, false"})
    void shouldFindEachWrongWriteOfAProgram(final ReusePolicy policy, final boolean inPlace) {
        final long seed = ThreadLocalRandom.current().nextLong();
        final SplittableRandom random = new SplittableRandom(seed);
        final Pool dirty = pool(
                policy, builder -> builder.name("dirty").growInPlace(inPlace).check(found::add));
        final List<Long> blocks = new ArrayList<>();
        final List<String> expected = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            if (blocks.size() < 30 || random.nextBoolean()) {
                blocks.add(dirty.allocate(1 + random.nextLong(random.nextInt(20) == 0 ? 2 * MIB : 4000)));
            } else {
                final long address = blocks.remove(random.nextInt(blocks.size()));
                final long sizeBytes = dirty.sizeOf(address);
                final boolean behind = random.nextInt(4) == 0;
                final boolean after = random.nextInt(4) == 0;
                final long offset = sizeBytes + random.nextLong(512);
                if (behind) {
                    memory.write(address + offset, 7);
                    expected.add(address + " " + offset);
                }
                dirty.free(address);
                if (after) {
                    final long inside = random.nextLong(sizeBytes + 512);
                    memory.write(address + inside, 7);
                    expected.add(address + " " + inside);
                }
            }
            if (random.nextInt(100) == 0) {
                dirty.trimTo(random.nextLong(DEVICE));
            }
        }
        dirty.close();

        assertEquals(
                expected.stream().sorted().toList(),
                found.stream()
                        .map(each -> each.address() + " " + each.offsetBytes())
                        .sorted()
                        .toList(),
                "seed " + seed);
    }
}
