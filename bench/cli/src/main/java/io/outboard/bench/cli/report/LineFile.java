package io.outboard.bench.cli.report;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * This class names files with one JSON object a line. Such names end in {@code .jsonl}. An older version used
 * {@code .json}, although none of these files was JSON as a whole. Safe for any number of threads.
 */
public final class LineFile {

    private static final String ENDING = ".jsonl";
    private static final String OLD_ENDING = ".json";

    private LineFile() {}

    /**
     * Returns the current name of a file.
     *
     * @param name of a file
     * @return the name, with {@code .jsonl} in place of {@code .json}; only right for files of one object a line
     */
    public static String nameOf(final String name) {
        return name.endsWith(OLD_ENDING) ? name.replace(OLD_ENDING, ENDING) : name;
    }

    /**
     * Returns a file in a folder, which may have the old name.
     *
     * @param folder where the file is
     * @param name current name of the file
     * @return the file of the old name if only that exists
     */
    public static Path in(final Path folder, final String name) {
        final Path file = folder.resolve(name);
        final Path old = folder.resolve(name.replace(ENDING, OLD_ENDING));
        return !Files.exists(file) && Files.exists(old) ? old : file;
    }
}
