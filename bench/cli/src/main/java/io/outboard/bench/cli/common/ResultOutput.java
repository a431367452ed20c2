package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * This class prints and writes results, each as one JSON object a line as soon as it is known, and a table for people
 * at the end.
 */
public final class ResultOutput {

    private final OutputOptions options;
    private final ResultsSection.Kind kind;
    private final PrintWriter out;
    private final @Nullable CudaDevice gpu;
    private final List<String> lines = new ArrayList<>();

    /**
     * Makes an output that has printed nothing yet.
     *
     * @param options what to print, and where to write
     * @param kind what the results are, and which file of the folder they go to
     * @param out where to print
     * @param gpu the GPU that was measured on, null without one
     */
    public ResultOutput(
            final OutputOptions options,
            final ResultsSection.Kind kind,
            final PrintWriter out,
            final @Nullable CudaDevice gpu) {
        this.options = options;
        this.kind = kind;
        this.out = out;
        this.gpu = gpu;
    }

    /**
     * Adds a result. Prints it at once if JSON is wanted, and writes all results so far into the folder for results, if
     * one is wanted.
     *
     * @param line the result; facts about machine and software are added to it
     * @throws IOException if the folder can't be written
     */
    public void add(final JsonLine line) throws IOException {
        line.put("jdk", Environment.jdk())
                .put("cpu", Environment.cpu())
                .put("gpu", gpu == null ? null : gpu.toString())
                .put("commit", Environment.commit());
        lines.add(line.toString());
        if (options.json()) {
            Progress.makeRoom();
            out.println(line);
            out.flush();
        }
        if (options.out() != null) {
            options.writeLines(kind.fileName(), lines);
            options.write("environment.json", Environment.json(gpu, "") + "\n");
        }
    }

    /**
     * Prints the table, unless the results were printed as JSON, and makes the page of the folder for results, if one
     * is wanted.
     *
     * @param table prints the results for people
     * @throws IOException if the folder can't be written
     */
    public void print(final Consumer<PrintWriter> table) throws IOException {
        if (!options.json()) {
            table.accept(out);
        }
        options.writePage(List.of(kind.part()), out);
    }
}
