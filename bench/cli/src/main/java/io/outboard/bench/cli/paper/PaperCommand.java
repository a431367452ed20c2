package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.common.DidYouMean;
import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code outboard paper} makes the tables, figures and claims of a paper on this machine. */
@Command(
        name = "paper",
        mixinStandardHelpOptions = true,
        description = "Makes every table, figure and claim of a paper on this machine, with the paper's values beside"
                + " ours. What needs a GPU is left out without one.")
public final class PaperCommand implements Callable<Integer> {

    /** The part of a page that shows what the command gives. */
    public static final PagePart PART = PaperSection.part();

    private static final List<String> FACTS = List.of("gpu", "driver", "jdk", "cpu", "commit");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            paramLabel = "NAME",
            completionCandidates = Names.class,
            description = "The paper: ${COMPLETION-CANDIDATES}.")
    private String name = "";

    @Option(
            names = "--device",
            paramLabel = "auto|none|N",
            defaultValue = "auto",
            description = "The GPU. Default: ${DEFAULT-VALUE}.")
    private String device = "auto";

    @Option(names = "--whole", description = "Measure also what takes more than some minutes: the largest problems.")
    private boolean whole;

    @Option(
            names = "--from",
            paramLabel = "DIR",
            description = "Measure nothing: show the results of an earlier run, which are in this folder.")
    private @Nullable Path from;

    @Option(
            names = "--beside",
            paramLabel = "DIR",
            description = "A folder with the results of the same paper on another GPU, to compare with.")
    private @Nullable Path beside;

    @Mixin
    private OutputOptions output = new OutputOptions();

    /** Picocli calls this constructor. */
    public PaperCommand() {}

    /** An output and its values, or the reason why it has none. */
    private record Shown(PaperOutput output, PaperTable table, String leftOut) {}

    @Override
    public Integer call() throws Exception {
        final Paper paper = named(name);
        checkFolder("--from", from);
        checkFolder("--beside", beside);
        checkOther("--from", from);
        checkOther("--beside", beside);
        final PrintWriter out = spec.commandLine().getOut();
        if (from != null) {
            checkNotGiven("--device", device);
            checkNotGiven("--whole", whole);
            output.check();
            show(paper, new PaperResults(from, beside), "no results of it are in " + from, out);
            return 0;
        }
        final Probe probe = probe();
        output.check();
        final Path folder = output.out() == null ? Files.createTempDirectory("outboard-paper") : output.out();
        try {
            final OutputOptions here = output.out() == null ? output.within(folder) : output;
            here.write(PaperResults.ENVIRONMENT, Environment.json(probe.gpu, "") + "\n");
            final List<String> faults = paper.measure(new PaperRun(here, device, probe.gpu, whole));
            show(paper, new PaperResults(folder, beside), reason(probe), out);
            faults.forEach(fault -> spec.commandLine().getErr().println("outboard: " + fault));
            return faults.isEmpty() ? 0 : 1;
        } finally {
            if (output.out() == null) {
                delete(folder);
            }
        }
    }

    private static Paper named(final String name) {
        final List<String> names = Paper.all().stream().map(Paper::name).toList();
        return Paper.all().stream()
                .filter(paper -> paper.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new WrongUseException(
                        "NAME=" + name + " must be one of: " + String.join(", ", names) + DidYouMean.of(name, names)));
    }

    /** Refuses to write where the results are that are to be shown: old results are deleted there. */
    private void checkOther(final String option, final @Nullable Path folder) throws IOException {
        final Path out = output.out();
        if (folder != null && out != null && Files.exists(out) && Files.isSameFile(folder, out)) {
            throw new WrongUseException("--out=" + out + " must not be the folder of " + option);
        }
    }

    private void checkNotGiven(final String option, final Object value) {
        if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
            throw new WrongUseException(
                    option + "=" + value + " must not be given with --from, which measures nothing");
        }
    }

    private static void checkFolder(final String option, final @Nullable Path folder) {
        if (folder != null && !Files.isDirectory(folder)) {
            throw new WrongUseException(option + "=" + folder + " must be a folder with results");
        }
    }

    /** A GPU, or the reason why there is none. */
    private record Probe(@Nullable CudaDevice gpu, String reason) {}

    private Probe probe() {
        try (DeviceProbe probe = DeviceProbe.open(device)) {
            return new Probe(probe.source().map(CudaMemorySource::device).orElse(null), probe.reason());
        } catch (final CudaUnavailableException e) {
            throw new WrongUseException("--device=" + device + " must be a GPU that works: " + e.getMessage());
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
    }

    private String reason(final Probe probe) {
        if (probe.gpu == null) {
            return "it needs a GPU: " + probe.reason;
        }
        return whole
                ? "nothing was measured for it"
                : "nothing was measured for it; --whole and --beside measure and show more";
    }

    private void show(final Paper paper, final PaperResults results, final String reason, final PrintWriter out)
            throws IOException {
        final JsonObject environment = results.environment();
        final List<Shown> all = new ArrayList<>();
        for (final PaperOutput one : paper.outputs()) {
            final PaperTable table = one.composer().compose(results);
            all.add(new Shown(one, table, table.hasOurs() ? "" : reason));
        }
        final List<String> lines = all.stream()
                .flatMap(PaperCommand::lines)
                .map(line -> withFacts(line, environment))
                .map(JsonLine::toString)
                .toList();
        if (output.json()) {
            lines.forEach(out::println);
        } else {
            print(paper, all, out);
        }
        if (output.out() != null) {
            output.writeLines(PaperSection.FILE_NAME, lines);
            final JsonLine facts = new JsonLine();
            environment.keys().forEach(key -> facts.put(key, environment.text(key)));
            output.write(PaperResults.ENVIRONMENT, facts + "\n");
        }
        output.writePage(CommandModule.allPageParts(), out);
    }

    private static Stream<JsonLine> lines(final Shown shown) {
        return shown.leftOut().isEmpty()
                ? shown.table().lines(shown.output().name()).stream()
                : Stream.of(new JsonLine().put("output", shown.output().name()).put("leftOut", shown.leftOut()));
    }

    private static JsonLine withFacts(final JsonLine line, final JsonObject environment) {
        FACTS.forEach(key -> line.put(key, environment.keys().contains(key) ? environment.text(key) : null));
        return line;
    }

    private static void print(final Paper paper, final List<Shown> all, final PrintWriter out) {
        out.println(paper.title());
        for (final Shown shown : all) {
            out.println();
            if (shown.leftOut().isEmpty()) {
                out.println(shown.output().name() + ": " + shown.output().title());
                out.println();
                shown.table().print(out);
                out.println();
                out.println("Deviation: " + shown.output().deviation());
            } else {
                out.println(shown.output().name() + ": left out, since " + shown.leftOut());
            }
        }
    }

    private static void delete(final Path folder) throws IOException {
        final List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (final Path file : files) {
            Files.delete(file);
        }
    }

    /** This list has the values that a shell offers as completions. */
    static final class Names implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            return Paper.all().stream().map(Paper::name).iterator();
        }
    }
}
