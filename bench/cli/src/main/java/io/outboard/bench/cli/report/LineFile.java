package io.outboard.bench.cli.report;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Names of files with one JSON object a line: they end in {@code .jsonl}, and in {@code .json} where an older version
 * wrote them, though none was JSON as a whole. Safe for any number of threads.
 */
public final class LineFile {

    private static final String ENDING = ".jsonl";
    private static final String OLD_ENDING = ".json";

    private LineFile() {}

    /**
     * What a file is called today.
     *
     * @param name of a file
     * @return the name, with {@code .jsonl} where it ends in {@code .json}: right for files of one object a line
     */
    public static String nameOf(final String name) {
        return name.endsWith(OLD_ENDING) ? name.replace(OLD_ENDING, ENDING) : name;
    }

    /**
     * A folder's file, which may have the old name.
     *
     * @param folder where it is
     * @param name as it is today
     * @return the old file if there is no other
     */
    public static Path in(final Path folder, final String name) {
        final Path file = folder.resolve(name);
        final Path old = folder.resolve(name.replace(ENDING, OLD_ENDING));
        return !Files.exists(file) && Files.exists(old) ? old : file;
    }
}
