package io.outboard.bench.common;

import io.outboard.bench.report.JsonLine;
import io.outboard.bench.report.page.ReportPage;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Prints and writes figures that are one JSON object a line, and a table for people. */
public final class FigureOutput {

    private final OutputOptions options;
    private final PrintWriter out;
    private final @Nullable CudaDevice gpu;

    /**
     * Nothing printed yet.
     *
     * @param options what to print, and where to write
     * @param out where to print
     * @param gpu what was measured on, null without one
     */
    public FigureOutput(final OutputOptions options, final PrintWriter out, final @Nullable CudaDevice gpu) {
        this.options = options;
        this.out = out;
        this.gpu = gpu;
    }

    /**
     * Writes the figures that are known so far into the folder that the options ask for.
     *
     * @param fileName of the file in the folder
     * @param lines the figures; where they come from is added to them
     * @throws IOException if the folder can't be written
     */
    public void keep(final String fileName, final List<JsonLine> lines) throws IOException {
        lines.forEach(line -> line.put("jdk", Environment.jdk())
                .put("cpu", Environment.cpu())
                .put("gpu", gpu == null ? null : gpu.toString())
                .put("commit", Environment.commit()));
        if (options.out() != null) {
            options.writeLines(fileName, lines.stream().map(JsonLine::toString).toList());
            options.write("environment.json", Environment.json(gpu, "") + "\n");
        }
    }

    /**
     * Prints the figures, and writes the folder that the options ask for.
     *
     * @param fileName of the file in the folder
     * @param lines the figures
     * @param table prints them for people
     * @throws IOException if the folder can't be written
     */
    public void print(final String fileName, final List<JsonLine> lines, final Consumer<PrintWriter> table)
            throws IOException {
        keep(fileName, lines);
        if (options.json()) {
            lines.forEach(out::println);
        } else {
            table.accept(out);
        }
        final Path folder = options.out();
        if (folder != null) {
            final Path page = ReportPage.write(folder);
            if (!options.json()) {
                out.println("report: " + page);
            }
        }
        out.flush();
    }
}
