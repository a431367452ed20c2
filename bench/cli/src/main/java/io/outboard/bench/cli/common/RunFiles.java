package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.LineFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * This class knows which files a run leaves in its folder, and so recognises a folder that has another run's results.
 */
public final class RunFiles {

    private static final List<String> SHARED = List.of("environment.json", "report.html");
    private static final List<String> ENDINGS = List.of(".hgrm", "-memory.csv", "-operations.csv", "-calls.csv");

    private RunFiles() {}

    /**
     * Tells by its name whether a file is the result of one particular run.
     *
     * @param name of a file
     * @return true for result files of any command; false for files that every run replaces, such as the page, and for
     *     all files that no run writes
     */
    public static boolean isOfRun(final String name) {
        return ENDINGS.stream().anyMatch(name::endsWith)
                || CommandModule.all().stream()
                        .flatMap(module -> module.resultFiles().stream())
                        .anyMatch(LineFile.nameOf(name)::equals);
    }

    /**
     * Refuses a folder that has another run's results.
     *
     * @param folder the value of {@code --out}
     * @param kind tells by its name whether a file is another run's result
     * @throws WrongUseException if the folder has such a file, or can't be read
     */
    public static void checkNone(final Path folder, final Predicate<String> kind) {
        final Optional<String> found;
        try (Stream<Path> files = Files.list(folder)) {
            found = files.filter(Files::isRegularFile)
                    .map(file -> file.toFile().getName())
                    .filter(kind)
                    .sorted()
                    .findFirst();
        } catch (final IOException e) {
            throw new WrongUseException("--out=" + folder + " must be a folder that can be read");
        }
        if (found.isPresent()) {
            throw new WrongUseException("--out=" + folder + " must be a folder without another run's results, but has "
                    + found.get() + ": choose another one, or replace them with --overwrite");
        }
    }

    /** Deletes the files that runs left in a folder, and no others. */
    static void delete(final Path folder) throws IOException {
        final List<Path> old;
        try (Stream<Path> files = Files.list(folder)) {
            old = files.filter(Files::isRegularFile)
                    .filter(file -> isOfRun(file.toFile().getName())
                            || SHARED.contains(file.toFile().getName()))
                    .toList();
        }
        for (final Path file : old) {
            Files.delete(file);
        }
    }
}
