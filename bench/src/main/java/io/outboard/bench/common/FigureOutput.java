package io.outboard.bench.common;

import io.outboard.bench.report.JsonLine;
import io.outboard.bench.report.page.ReportPage;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Prints and writes figures that are one JSON object a line, and a table for people. */
public final class FigureOutput {

    private final OutputOptions options;
    private final PrintWriter out;
    private final @Nullable CudaDevice gpu;
    private final List<String> lines = new ArrayList<>();

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
     * Keeps a figure, and prints it at once if that is asked for as JSON.
     *
     * @param line the figure
     */
    public void add(final JsonLine line) {
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
    }

    /**
     * Prints the table, unless the figures were printed as JSON, and writes the folder that the options ask for.
     *
     * @param fileName of the file in the folder
     * @param table prints the figures for people
     * @throws IOException if the folder can't be written
     */
    public void print(final String fileName, final Consumer<PrintWriter> table) throws IOException {
        if (!options.json()) {
            table.accept(out);
        }
        final Path folder = options.out();
        if (folder != null) {
            final Path page = write(folder, fileName, lines, Environment.facts(gpu, ""));
            if (!options.json()) {
                out.println("report: " + page);
            }
        }
        out.flush();
    }

    private static Path write(
            final Path folder, final String fileName, final List<String> lines, final Map<String, String> facts)
            throws IOException {
        Files.createDirectories(folder);
        Files.write(folder.resolve(fileName), lines);
        final JsonLine environment = new JsonLine();
        facts.forEach(environment::put);
        Files.writeString(folder.resolve("environment.json"), environment + "\n");
        return ReportPage.write(folder);
    }
}
