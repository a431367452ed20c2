package io.outboard.bench;

import io.outboard.bench.common.WrongUseException;
import io.outboard.bench.programs.ProgramCase;
import io.outboard.bench.programs.Programs;
import io.outboard.bench.programs.Store;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of programs whose kernels allocate. */
final class ProgramOptions {

    private static final String ALL = "all";

    @Option(
            names = "--program",
            paramLabel = "NAME,...",
            split = ",",
            description =
                    "Instead of the tests, run these programs of the papers, each with every store that it has, and"
                            + " compare what they come to with the CPU's: wator; or all.")
    private List<String> programs = List.of();

    @Option(
            names = "--store",
            paramLabel = "NAME,...",
            split = ",",
            description =
                    "With --program: what objects live in: ObjectHeap, Aos and Soa, arrays without an allocator; or an"
                            + " allocator, such as BitMalloc, CFMMalloc-coalesced, CudaMalloc-buffered. Default: all.")
    private List<String> stores = List.of();

    /** Whether programs are asked for. */
    boolean areChosen() {
        if (programs.isEmpty() && !stores.isEmpty()) {
            throw new WrongUseException("--store=" + String.join(",", stores) + " must stand with --program");
        }
        return !programs.isEmpty();
    }

    /** What the options ask for. */
    List<ProgramCase> cases(final boolean quick) {
        final List<String> known = Programs.stores().stream().map(Store::name).toList();
        for (final String store : stores) {
            if (!known.contains(store)) {
                throw new WrongUseException("--store=" + store + " must be one of: " + String.join(", ", known));
            }
        }
        final List<ProgramCase> cases = new ArrayList<>();
        for (final String name : programs.equals(List.of(ALL)) ? Programs.names() : programs) {
            if (!Programs.names().contains(name)) {
                throw new WrongUseException(
                        "--program=" + name + " must be all or one of: " + String.join(", ", Programs.names()));
            }
            Programs.cases(name, quick).stream()
                    .filter(work ->
                            stores.isEmpty() || stores.contains(work.store().name()))
                    .forEach(cases::add);
        }
        if (cases.isEmpty()) {
            throw new WrongUseException("--store=" + String.join(",", stores)
                    + " must be one that a program of --program=" + String.join(",", programs) + " has");
        }
        return cases;
    }
}
