package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.internal.facade.ContextPools;
import io.outboard.cuda.internal.facade.PoisonProbe;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutboardOptionsTest {

    @AfterEach
    void clear() {
        OutboardOptions.all().forEach(option -> System.clearProperty(option.property()));
    }

    @Test
    void shouldHaveSafeDefaults() {
        assertEquals(OutboardOptions.defaults(), OutboardOptions.ofProperties());
        assertTrue(OutboardOptions.defaults().toString().startsWith("OutboardOptions{strategy=tlsf, share=0.9, "));
    }

    /** The property, the agent's argument and an error's message all use the same name for an option. */
    @Test
    void shouldHaveOneNameForEachOption() {
        final List<String> names =
                OutboardOptions.all().stream().map(OutboardOption::name).toList();

        assertEquals(names.size(), Set.copyOf(names).size());
        assertTrue(names.containsAll(List.of("strategy", "free", "firstRegion", "keep", "serviceName", "record")));
        assertThrows(
                UnsupportedOperationException.class, () -> OutboardOptions.all().clear());
    }

    @Test
    void shouldReadTheProperties() {
        System.setProperty("outboard.strategy", "bitmask");
        System.setProperty("outboard.reuse", "stream-ordered");
        System.setProperty("outboard.share", "0.5");
        System.setProperty("outboard.firstRegion", "2g");

        assertEquals(
                OutboardOptions.defaults()
                        .withStrategy("bitmask")
                        .withReuse(ReusePolicy.STREAM_ORDERED)
                        .withShare(0.5)
                        .withFirstRegionBytes(2L << 30),
                OutboardOptions.ofProperties());
    }

    @ParameterizedTest
    @CsvSource({
        "4096, 4096",
        "1K, 1024",
        "3m, 3145728",
        "1T, 1099511627776",
        "64MiB, 67108864",
        "512m, 536870912",
        "1GiB, 1073741824",
        "1.5g, 1610612736"
    })
    void shouldReadSizes(final String text, final long bytes) {
        System.setProperty("outboard.firstRegion", text);

        assertEquals(bytes, OutboardOptions.ofProperties().firstRegionBytes());
    }

    @ParameterizedTest
    @CsvSource({
        "reuse, lax, 'must be one of: strict, tracked, stream-ordered, immediate'",
        "reuse, STRICT, 'must be one of: strict, tracked, stream-ordered, immediate'",
        "share, 80%, must be a number > 0 and <= 1",
        "share, 0, must be a number > 0 and <= 1",
        "share, NaN, must be a number > 0 and <= 1",
        "firstRegion, M, 'must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB'",
        "firstRegion, -1, 'must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB'",
        "firstRegion, 9000000T, 'must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB'",
        "free, never, 'must be one of: limbo, barrier'",
        "check, true, 'must be one of: none, poison'",
        "growInPlace, yes, must be true or false",
        "firstRegion, '', 'must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB'",
        "leave, some, 'must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB'",
        "slack, much, 'must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB'",
        "leave, -1, 'must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB'",
        "keep, 1s, must be a number of seconds",
        "keep, -1, 'must be 0, or >= 0.001 and <= 86400000 seconds'",
        "keep, 0.0009, 'must be 0, or >= 0.001 and <= 86400000 seconds'",
        "keep, 86400001, 'must be 0, or >= 0.001 and <= 86400000 seconds'",
        "keep, NaN, 'must be 0, or >= 0.001 and <= 86400000 seconds'"
    })
    void shouldNameAWrongProperty(final String name, final String value, final String rule) {
        System.setProperty("outboard." + name, value);

        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, OutboardOptions::ofProperties);

        assertEquals("outboard." + name + "=" + value + " " + rule, thrown.getMessage());
    }

    @Test
    void shouldReadWhereDumpsGo(@TempDir final Path folder) throws IOException {
        assertNull(OutboardOptions.ofProperties().dumpFolder());
        System.setProperty("outboard.dumpFolder", folder.toString());

        assertEquals(folder, OutboardOptions.ofProperties().dumpFolder());
        assertEquals(
                folder,
                OutboardOptions.ofProperties()
                        .withShare(0.5)
                        .withKeep(Duration.ZERO)
                        .dumpFolder());
        for (final String wrong : List.of("", folder + "/none", Files.createFile(folder.resolve("file")) + "", "\0")) {
            System.setProperty("outboard.dumpFolder", wrong);
            final IllegalArgumentException thrown =
                    assertThrows(IllegalArgumentException.class, OutboardOptions::ofProperties);
            assertEquals("outboard.dumpFolder=" + wrong + " must be a folder that exists", thrown.getMessage());
        }
    }

    @Test
    void shouldReadWhereLeasesComeFrom() {
        assertNull(OutboardOptions.ofProperties().service());
        assertNull(OutboardOptions.ofProperties().serviceName());
        System.setProperty("outboard.service", "/run/outboard/gpu0");
        System.setProperty("outboard.serviceName", "night-1.b_c");

        final OutboardOptions options = OutboardOptions.ofProperties().withShare(0.5);

        assertEquals(Path.of("/run/outboard/gpu0"), options.service());
        assertEquals("night-1.b_c", options.serviceName());
        assertNull(options.withService(null, null).service());
        final String rule = " must consist of letters, digits, . _ and -, at most 32";
        for (final String wrong : List.of("", "a b", "a".repeat(33))) {
            System.setProperty("outboard.serviceName", wrong);
            assertEquals(
                    "outboard.serviceName=" + wrong + rule,
                    messageOf(assertThrows(IllegalArgumentException.class, OutboardOptions::ofProperties)));
            assertEquals(
                    "serviceName=" + wrong + rule,
                    messageOf(assertThrows(IllegalArgumentException.class, () -> options.withService(null, wrong))));
        }
        System.clearProperty("outboard.serviceName");
        for (final String wrong : List.of("", "run/lender", "/" + "a".repeat(107), "\0")) {
            System.setProperty("outboard.service", wrong);
            assertEquals(
                    "outboard.service=" + wrong + " must be an absolute path of at most 107 bytes",
                    messageOf(assertThrows(IllegalArgumentException.class, OutboardOptions::ofProperties)));
        }
        assertEquals(
                "service=lender must be an absolute path of at most 107 bytes",
                messageOf(assertThrows(
                        IllegalArgumentException.class, () -> options.withService(Path.of("lender"), null))));
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1000", "0.5, 500", "0.001, 1"})
    void shouldReadHowLongMemoryIsKept(final String text, final long millis) {
        System.setProperty("outboard.keep", text);
        System.setProperty("outboard.leave", "2G");

        final OutboardOptions options = OutboardOptions.ofProperties();

        assertEquals(Duration.ofMillis(millis), options.keep());
        assertEquals(2L << 30, options.leaveBytes());
    }

    @ParameterizedTest
    @CsvSource({"limbo, false", "barrier, true"})
    void shouldReadWhatAFreeIs(final String text, final boolean barrier) {
        System.setProperty("outboard.free", text);

        assertEquals(barrier, OutboardOptions.ofProperties().freeIsBarrier());
    }

    @ParameterizedTest
    @CsvSource({"none, false", "poison, true"})
    void shouldReadWhetherMemoryIsChecked(final String text, final boolean checks) {
        System.setProperty("outboard.check", text);

        assertEquals(checks, OutboardOptions.ofProperties().checksMemory());
    }

    @Test
    void shouldCheckMemoryWhenTheProcessEnds(@TempDir final Path folder) throws IOException, InterruptedException {
        final String flag = "-Doutboard.share=0.5";

        final List<String> checked = ChildJvm.run(folder, entry -> true, flag, PoisonProbe.class, "check");
        final List<String> unchecked = ChildJvm.run(folder, entry -> true, flag, PoisonProbe.class);

        assertTrue(messages(checked).contains("at offset 1000, behind the end of block"), checked.toString());
        assertEquals("", messages(unchecked));
    }

    @Test
    void shouldServeAProgramThatAllocatesWhenItEnds(@TempDir final Path folder) throws Exception {
        final List<String> lines =
                ChildJvm.run(folder, entry -> true, "-Doutboard.share=0.5", PoisonProbe.class, "late");

        assertEquals(List.of("allocated"), lines);
    }

    private static String messages(final List<String> lines) {
        return lines.stream().filter(line -> line.contains("Corruption")).collect(Collectors.joining("\n"));
    }

    @Test
    void shouldRefuseValuesOutsideOfTheirRange() {
        final OutboardOptions options = OutboardOptions.ofProperties();

        assertAll(
                () -> assertThrows(IllegalArgumentException.class, () -> options.withShare(1.1)),
                () -> assertThrows(IllegalArgumentException.class, () -> options.withFirstRegionBytes(-1)),
                () -> assertThrows(IllegalArgumentException.class, () -> options.withLeaveBytes(-1)),
                () -> assertThrows(IllegalArgumentException.class, () -> options.withKeep(Duration.ofNanos(1))),
                () -> assertThrows(IllegalArgumentException.class, () -> options.withKeep(Duration.ofMillis(-1))),
                () -> assertThrows(IllegalArgumentException.class, () -> options.withKeep(Duration.ofDays(1001))),
                () -> assertEquals("slab", options.withStrategy("slab").strategy()),
                () -> assertEquals(
                        ReusePolicy.TRACKED,
                        options.withReuse(ReusePolicy.TRACKED).reuse()));
    }

    @Test
    void shouldTakeAThirtySecondOfTheDeviceFirst() {
        final FakeCuda cuda = new FakeCuda(1);
        final ContextPools pools = new ContextPools(
                null, () -> cuda, Optional::empty, LeasedMemory::connect, OutboardOptions::ofProperties);
        pools.ofThread(true);
        final Pool pool = pools.poolOf(0).orElseThrow();

        pool.allocate(1);

        assertEquals(FakeCuda.TOTAL_BYTES / 32, pool.statistics().heldBytes());
    }

    @Test
    void shouldNameAStrategyThatDoesNotExist() {
        final FakeCuda cuda = new FakeCuda(1);
        final ContextPools pools = new ContextPools(
                null, () -> cuda, Optional::empty, LeasedMemory::connect, OutboardOptions::ofProperties);
        pools.configure(OutboardOptions.ofProperties().withStrategy("none"));

        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> pools.ofThread(true));

        assertTrue(messageOf(thrown).startsWith("strategy=none must be one of: "), messageOf(thrown));
    }

    @Test
    void shouldRecordWhereThereIsAFolder(@TempDir final Path folder) {
        assertNull(OutboardOptions.ofProperties().record());
        for (final Path wrong : List.of(folder, folder.resolve("no/such"))) {
            System.setProperty("outboard.record", wrong.toString());
            assertEquals(
                    "outboard.record=" + wrong + " must be a file, in a folder that exists",
                    assertThrows(IllegalArgumentException.class, OutboardOptions::ofProperties)
                            .getMessage());
            final OutboardOptions options = OutboardOptions.defaults();
            assertEquals(
                    "record=" + wrong + " must be a file, in a folder that exists",
                    assertThrows(IllegalArgumentException.class, () -> options.withRecord(wrong))
                            .getMessage());
        }
        final Path file = folder.resolve("program.rec");
        System.setProperty("outboard.record", file.toString());

        assertEquals(file, OutboardOptions.ofProperties().record());
    }

    @Test
    void shouldReadTheSlackAndKeepItWithOtherOptions() {
        assertNull(OutboardOptions.ofProperties().slackBytes(), "what suits the device");
        System.setProperty("outboard.slack", "64M");
        assertEquals(64L << 20, OutboardOptions.ofProperties().withShare(0.5).slackBytes());
        System.setProperty("outboard.slack", "0");
        final OutboardOptions options = OutboardOptions.ofProperties();
        assertEquals(0L, options.slackBytes());

        assertThrows(IllegalArgumentException.class, () -> options.withSlackBytes(-1L));
        assertThrows(IllegalArgumentException.class, () -> options.withSlackBytes((1L << 62) + 1));
        assertNull(options.withSlackBytes(null).slackBytes());
    }
}
