package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.programs.catalogue.Programs;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** The options choose programs whose kernels allocate. */
final class ProgramOptions {

    private static final String ALL = "all";
    private static final List<String> ORDERS = List.of("near", "active", "paper");

    /** The options that choose cases and allocators of the tests, and how long tests last. */
    private static final List<String> OPTIONS_OF_TESTS = List.of(
            "--allocator",
            "--coalesced",
            "--linked",
            "--case",
            "--threads",
            "--bytes",
            "--heap",
            "--iterations",
            "--churn-seconds",
            "--aged",
            "--pre-split",
            "--part",
            "--runs");

    @Option(
            names = "--program",
            paramLabel = "NAME,...",
            split = ",",
            description =
                    "Instead of the tests, run these programs of the papers, each with every store that it has, and"
                            + " compare what they come to with the CPU's: wator, traffic, life, generation, nbody, collision, structure, sugarscape,"
                            + " kdtree, xmalloc, arena, objects; or all.")
    private List<String> programs = List.of();

    @Option(
            names = "--store",
            paramLabel = "NAME,...",
            split = ",",
            description =
                    "With --program: what objects live in: ObjectHeap, Aos and Soa, arrays without an allocator; or an"
                            + " allocator, such as BitmapAlloc, BitMalloc, CFMMalloc-coalesced, CudaMalloc-buffered; mallocMC"
                            + " and Halloc where bench/peers.sh made them. Default: all.")
    private List<String> stores = List.of();

    @Option(
            names = "--size",
            paramLabel = "NAME,...",
            split = ",",
            description = "With --program: of each program's sizes, such as 256x256. Default: all.")
    private List<String> sizes = List.of();

    @Option(
            names = "--mode",
            paramLabel = "time,memory,largest,long",
            split = ",",
            description =
                    "With --program: what to find out. time: how long a step takes, lists of objects and the work on"
                            + " them apart. memory: the least heap with which no object is refused. largest: the largest problem of which none is, in the"
                            + " same heap for all stores. long: whether 300,000 steps pass"
                            + " without a fault, three times. Default: all that a program has.")
    private List<String> modes = List.of();

    @Option(
            names = "--order",
            paramLabel = "near,active,paper",
            split = ",",
            description =
                    "With --program: when an ObjectHeap takes a free block for a new object. near: if no block with room"
                            + " is near. active: if the heap has none of which an eighth is free. paper: if it has none with"
                            + " room, as in the paper. More than one: cases with each. Default: near.")
    private List<String> orders = List.of();

    /** Returns whether the user asked for programs. */
    boolean areChosen() {
        if (programs.isEmpty()) {
            checkAbsent("--store", stores);
            checkAbsent("--size", sizes);
            checkAbsent("--mode", modes);
            checkAbsent("--order", orders);
        }
        return !programs.isEmpty();
    }

    private static void checkAbsent(final String option, final List<String> values) {
        if (!values.isEmpty()) {
            throw new WrongUseException(option + "=" + String.join(",", values) + " must stand with --program");
        }
    }

    /** Throws if an option is given that is for the tests, and would be ignored. */
    void checkAlone(final ParseResult given) {
        for (final String option : OPTIONS_OF_TESTS) {
            if (given.hasMatchedOption(option)) {
                throw new WrongUseException(option + "="
                        + String.join(",", given.matchedOption(option).originalStringValues())
                        + " must stand without --program");
            }
        }
    }

    /** Returns the cases that the options ask for. */
    List<ProgramCase> cases(final boolean quick) {
        for (final String mode : modes) {
            checkOneOf(
                    "--mode",
                    mode,
                    Arrays.stream(ProgramCase.Mode.values())
                            .map(each -> each.name().toLowerCase(Locale.ROOT))
                            .toList());
        }
        orders.forEach(order -> checkOneOf("--order", order, ORDERS));
        final List<String> names = programs.equals(List.of(ALL)) ? Programs.names() : programs;
        names.forEach(name -> checkOneOf("--program", name, Programs.names()));
        final List<ProgramCase> all = names.stream()
                .flatMap(name -> Programs.cases(name, quick).stream())
                .toList();
        checkAllOf("--store", stores, all, work -> work.store().name());
        checkAllOf("--size", sizes, all, ProgramCase::size);
        final List<ProgramCase> cases = all.stream()
                .filter(work -> stores.isEmpty() || stores.contains(work.store().name()))
                .filter(work -> sizes.isEmpty() || sizes.contains(work.size()))
                .filter(work ->
                        modes.isEmpty() || modes.contains(work.mode().name().toLowerCase(Locale.ROOT)))
                .flatMap(this::ordered)
                .toList();
        if (cases.isEmpty()) {
            throw new WrongUseException("--program=" + String.join(",", programs)
                    + " must have a case with that --store, --size and --mode together");
        }
        return cases;
    }

    /** Returns a case with each order, if it has a heap of objects. */
    private Stream<ProgramCase> ordered(final ProgramCase work) {
        return orders.isEmpty() || !work.store().isObjectHeap()
                ? Stream.of(work)
                : orders.stream().map(order -> work.with(Store.ordered(order)));
    }

    private static void checkAllOf(
            final String option,
            final List<String> values,
            final List<ProgramCase> all,
            final Function<ProgramCase, String> key) {
        final List<String> known = all.stream().map(key).distinct().toList();
        values.forEach(value -> checkOneOf(option, value, known));
    }

    private static void checkOneOf(final String option, final String value, final List<String> known) {
        if (!known.contains(value)) {
            throw new WrongUseException(option + "=" + value + " must be one of: " + String.join(", ", known));
        }
    }
}
