package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.CommandRun;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** This class calls {@code outboard kernels} as users do, as far as it goes without a GPU. */
class KernelsCommandTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--allocator  | Gallatin   | --allocator=Gallatin must be one of: Empty, BitMalloc, AtomicMalloc,",
                "--coalesced  | maybe      | --coalesced=maybe must be no, yes or both",
                "--part       | paper      | --part=paper must be one of: main, family",
                "--program    | chess      | --program=chess must be one of: wator, traffic,",
                "--store      | Soa        | --store=Soa must stand with --program",
                "--size       | 256x256    | --size=256x256 must stand with --program",
                "--mode       | time       | --mode=time must stand with --program",
                "--linked     | maybe      | --linked=maybe must be no, yes or both",
                "--case       | DS         | --case=DS must be one of: AD, ADF, ACD, P, MIX, OOM, FILL, CHURN",
                "--case       | REGISTERS  | --case=REGISTERS must be one of: AD, ADF, ACD, P, MIX, OOM, FILL, CHURN",
                "--threads    | 1024       | --threads=1024 must be T or W and a number from 1 to 67108864",
                "--threads    | T0         | --threads=T0 must be T or W and a number from 1 to 67108864",
                "--bytes      | many       | --bytes=many must be a size",
                "--bytes      | 64..4      | --bytes=64..4 must rise from the first to the second",
                "--bytes      | 4          | --bytes=4 must be >= 8 for OOM and FILL",
                "--heap       | 1KiB       | --heap=1KiB must be from 64KiB to 64GiB",
                "--iterations | 0          | --iterations=0 must be >= 1 and <= 10000",
                "--pre-split  | buddy:64   | --pre-split=buddy:64 must be default, none, heap:SIZE or uniform:SIZE",
                "--pre-split  | heap:x     | --pre-split=x must be a size",
                "--runs       | 0          | --runs=0 must be >= 1 and <= 1000",
                "--churn-seconds | 0       | --churn-seconds=0 must be >= 1 and <= 3600",
                "--limit      | 0          | --limit=0 must be >= 1 and <= 3600",
                "--device     | none       | --device=none must be a GPU: device=none was asked for",
                "--device     | first      | device=first must be auto, none or a number >= 0",
                "--device     | 999        | --device=999 must be a GPU that works:"
            })
    void shouldNameAWrongArgumentInOneLine(final String option, final String value, final String message) {
        final CommandRun outcome = CommandRun.of("kernels", option, value);

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertTrue(outcome.err().contains(message), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--store     | Gallatin  | --store=Gallatin must be one of: ObjectHeap,",
                "--size      | 7x7       | --size=7x7 must be one of: 256x256, 2048x2048",
                "--mode      | slow      | --mode=slow must be one of: time, memory, largest, long",
                "--order     | far       | --order=far must be one of: near, active, paper",
                "--mode      | long      | --program=life must have a case with that --store, --size and --mode together",
                "--threads   | T1024     | --threads=T1024 must stand without --program",
                "--allocator | CMalloc   | --allocator=CMalloc must stand without --program",
                "--coalesced | both      | --coalesced=both must stand without --program",
                "--linked    | no        | --linked=no must stand without --program",
                "--case      | AD,ADF    | --case=AD,ADF must stand without --program",
                "--part      | main      | --part=main must stand without --program",
                "--heap      | 1GiB      | --heap=1GiB must stand without --program",
                "--runs      | 5         | --runs=5 must stand without --program",
                "--churn-seconds | 20    | --churn-seconds=20 must stand without --program"
            })
    void shouldNameAWrongArgumentOfPrograms(final String option, final String value, final String message) {
        final String program = message.contains("life") ? "life" : "wator";

        final CommandRun outcome = CommandRun.of("kernels", "--program", program, option, value);

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertTrue(outcome.err().contains(message), outcome.err());
    }

    @Test
    void shouldHaveCasesOfAnObjectHeapInEachOrder() {
        final ProgramOptions options = CommandLine.populateCommand(
                new ProgramOptions(), "--program=wator", "--store=ObjectHeap,BitMalloc", "--order=near,paper");

        final List<String> stores =
                options.cases(true).stream().map(work -> work.store().name()).toList();

        assertEquals(List.of("ObjectHeap", "ObjectHeap-paper", "BitMalloc"), stores);
    }

    @Test
    void shouldFailWhereOneResultDid() {
        final String ok =
                "{\"program\":\"life\",\"store\":\"CMalloc\",\"size\":\"8x8\",\"mode\":\"TIME\",\"status\":\"ok\"}";
        final ProgramResult passed = ProgramResult.parse("results", 1, ok);
        final ProgramResult crashed = ProgramResult.parse("results", 2, ok.replace("ok", "crash"));
        final ProgramResult refused = ProgramResult.parse("results", 3, ok.replace("ok", "refused"));

        assertEquals(0, KernelsCommand.exitCode(List.of(passed, refused)));
        assertEquals(1, KernelsCommand.exitCode(List.of(passed, crashed, refused)));
        // Others' code may fail: that is a result.
        final ProgramResult peer =
                ProgramResult.parse("results", 4, ok.replace("ok", "crash").replace("CMalloc", "Halloc"));
        assertEquals(0, KernelsCommand.exitCode(List.of(passed, peer)));
    }

    @Test
    void shouldFailWhereTwoRunsOfTheSameStepsDiffer() {
        final String run = "{\"program\":\"wator\",\"store\":\"ObjectHeap\",\"size\":\"8x8\",\"mode\":\"LONG\","
                + "\"status\":\"ok\",\"steps\":300000,\"checksum\":7}";
        final ProgramResult first = ProgramResult.parse("results", 1, run);

        assertEquals(0, KernelsCommand.exitCode(List.of(first, ProgramResult.parse("results", 2, run))));
        assertEquals(
                1, KernelsCommand.exitCode(List.of(first, ProgramResult.parse("results", 2, run.replace("7", "8")))));
        assertEquals(
                0,
                KernelsCommand.exitCode(List.of(
                        first,
                        ProgramResult.parse("results", 2, run.replace("7", "8").replace("300000", "3")))));
    }

    @Test
    void shouldRefuseSizesThatNoCaseTakes() {
        final CommandRun outcome = CommandRun.of("kernels", "--case", "MIX", "--bytes", "16");

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains("--bytes=16 must have a range such as 4..1024 for MIX"), outcome.err());
    }

    @Test
    void shouldRefuseAQuickRunOfSomethingElse() {
        final CommandRun outcome = CommandRun.of("kernels", "--quick", "--threads", "T1024");

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains("--quick must stand without --case, --threads"), outcome.err());
    }

    @Test
    void shouldTakePartsOfTheUsualRunAlone() {
        final CommandRun outcome = CommandRun.of("kernels", "--part", "main", "--threads", "T1024");

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains("--part must stand without --quick and"), outcome.err());
        final CommandRun heap = CommandRun.of("kernels", "--part", "main,family", "--heap", "8GiB");
        assertEquals(2, heap.exitCode());
        assertTrue(heap.err().contains("but for --part=main with --heap"), heap.err());
        assertTrue(cases("--part", "Main", "--heap", "8GiB", "--allocator", "BitMalloc")
                .contains("BitMalloc coalesced AD T100k 64 KiB, 8 GiB heap"));
        final List<String> family = cases("--part", "FAMILY", "--allocator", "CFMMalloc");
        assertTrue(family.contains("CFMMalloc OOM T10k 64 KiB"));
        assertTrue(family.size()
                < cases("--part", "main,family", "--allocator", "CFMMalloc").size());
    }

    @Test
    void shouldSayThatItNeedsAGpu() {
        final CommandRun outcome = CommandRun.of("kernels", "--quick", "--allocator", "Empty");
        assumeTrue(
                outcome.exitCode() != 0 && !outcome.err().contains("must be made"),
                "skipped, needs a machine without a GPU");

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().startsWith("outboard: --device=auto must be a GPU: "), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
    }

    @Test
    void shouldSayHowMissingKernelsAreMade() {
        final ProgramCase unknown = ProgramCase.parse("wator Nowhere 256x256 TIME 1024 1");

        assertEquals(
                "kernels=wator-Nowhere.ptx.gz must be made, with nvcc 13, by cuda-backend/ptx.sh --all; then build or"
                        + " bundle again",
                assertThrows(WrongUseException.class, () -> CaseResults.checkMade(List.of(unknown)))
                        .getMessage());
    }

    @Test
    void shouldTakeWhatIsGivenAndTheUsualForTheRest() {
        assertEquals(
                List.of("CFMMalloc AD T1k 16 B", "CFMMalloc AD T1k 64 B", "CFMMalloc MIX T1k 4..512"),
                cases(
                        "--allocator",
                        "CFMMalloc",
                        "--coalesced",
                        "no",
                        "--case",
                        "ad,mix",
                        "--threads",
                        "T1024",
                        "--bytes",
                        "16,64,4..512"));
        assertEquals(
                List.of("CMalloc coalesced P T100k 16 B, 3 iterations, 1 GiB heap, uniform:4096+end:65536"),
                cases(
                        "--allocator",
                        "CMalloc",
                        "--coalesced",
                        "yes",
                        "--case",
                        "P",
                        "--iterations",
                        "3",
                        "--heap",
                        "1g",
                        "--pre-split",
                        "uniform:4k+end:64KiB"));
    }

    @Test
    void shouldFillHeapsOnlyIfAsked() {
        assertTrue(cases("--allocator", "CMalloc", "--threads", "T1024").stream()
                .noneMatch(name -> name.contains("FILL")));
        assertEquals(
                List.of("CMalloc FILL T1k 64 B, 240 iterations"),
                cases(
                        "--allocator",
                        "CMalloc",
                        "--coalesced",
                        "no",
                        "--case",
                        "fill",
                        "--threads",
                        "T1024",
                        "--bytes",
                        "64",
                        "--iterations",
                        "240"));
    }

    @Test
    void shouldAgeHeapsUnlessToldNotTo() {
        final String[] some = {"--allocator", "CMalloc", "--coalesced", "no", "--case", "AD", "--threads", "T1024"};

        assertEquals(0, agedCases(some));
        assertEquals(1, agedCases(with(some, "--aged")));
        assertEquals(0, agedCases(with(some, "--no-aged")));
        assertTrue(agedCases("--allocator", "CMalloc") > 10);
        assertEquals(0, agedCases("--allocator", "CMalloc", "--no-aged"));
    }

    @Test
    void shouldLinkOnlyIfAsked() {
        final String[] some = {"--allocator", "CMalloc,Empty", "--case", "AD", "--bytes", "16", "--threads", "T1024"};

        assertEquals(List.of("CMalloc AD T1k 16 B", "CMalloc coalesced AD T1k 16 B", "Empty AD T1k 16 B"), cases(some));
        assertEquals(
                List.of("CMalloc linked AD T1k 16 B", "CMalloc coalesced linked AD T1k 16 B", "Empty AD T1k 16 B"),
                cases(with(some, "--linked=yes")));
        assertEquals(5, cases(with(some, "--linked=both")).size());
    }

    @Test
    void shouldChurnOnlyIfAsked() {
        assertTrue(cases("--allocator", "CMalloc", "--threads", "T1024").stream()
                .noneMatch(name -> name.contains("CHURN")));
        assertEquals(
                List.of("CMalloc coalesced CHURN T1k 4..1048576, 480 s"),
                cases(
                        "--allocator",
                        "CMalloc",
                        "--coalesced",
                        "yes",
                        "--case",
                        "churn",
                        "--threads",
                        "T1024",
                        "--churn-seconds",
                        "480"));
    }

    private static String[] with(final String[] arguments, final String one) {
        final String[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = one;
        return all;
    }

    private static long agedCases(final String... arguments) {
        return command(arguments).cases().stream().filter(KernelCase::aged).count();
    }

    /** Returns the cases without those of registers. */
    private static List<String> cases(final String... arguments) {
        return command(arguments).cases().stream()
                .filter(work -> !work.name().equals("registers"))
                .map(KernelsCommandTest::label)
                .toList();
    }

    private static KernelsCommand command(final String... arguments) {
        final KernelsCommand command = new KernelsCommand();
        new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments);
        return command;
    }

    private static String label(final KernelCase work) {
        return work.contender().label() + " " + work.name();
    }
}
