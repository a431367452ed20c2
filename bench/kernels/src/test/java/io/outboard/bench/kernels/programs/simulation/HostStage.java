package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.kernels.programs.ObjectType;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A host's stage runs a simulation's kernels on the CPU, by {@code stage.cpp} in a process of its own: one thread after
 * the other, in another order at each launch. Confined to one thread.
 */
final class HostStage implements Stage, AutoCloseable {

    private static final Path TESTS = Path.of("src/test/cuda");
    private static final Path PROGRAMS = Path.of("src/main/cuda/programs");
    private static final Path KERNELS = Path.of("../../cuda-backend/kernels/src");
    private static final long COMPILE_SECONDS = 60;

    private final List<ObjectType> types;
    private final Process process;
    private final BufferedWriter commands;
    private final BufferedReader answers;

    private HostStage(final Path program, final List<ObjectType> types, final long heapBytes) {
        this.types = types;
        try {
            process = new ProcessBuilder(program.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        commands = process.outputWriter();
        answers = process.inputReader();
        say("heap " + heapBytes);
        types.forEach(type -> say("type " + type.most() + " " + type.structureBytes(0, Long.BYTES)));
        array(REFUSED, Long.BYTES);
        array(FAULTS, Long.BYTES);
    }

    /**
     * Compiles a program for a store, and starts it. Skips the test where there are no sources or no compiler.
     *
     * @param source name of the source without its ending
     * @param store the name that the source gives its store
     * @param options what the store is
     */
    static HostStage start(
            final Path folder,
            final String source,
            final String store,
            final List<String> options,
            final List<ObjectType> types,
            final long heapBytes)
            throws InterruptedException {
        assumeTrue(TESTS.toFile().exists() && KERNELS.toFile().exists(), "skipped, needs the sources");
        final Path program = folder.resolve(source + options.hashCode());
        final List<String> command = new ArrayList<>(List.of(
                "g++",
                "-std=c++17",
                "-ffp-contract=off",
                "-pthread",
                "-rdynamic",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-psabi"));
        command.addAll(List.of("-I", KERNELS.resolve("main/cuda").toString()));
        command.addAll(List.of("-I", KERNELS.resolve("test/cuda").toString()));
        command.add("-DPROGRAM=\"" + PROGRAMS.resolve(source + ".cu").toAbsolutePath() + "\"");
        command.add("-DSTORE=" + store);
        command.addAll(options);
        command.addAll(List.of(TESTS.resolve("stage.cpp").toString(), "-o", program.toString(), "-ldl"));
        try {
            final Process compiler = new ProcessBuilder(command).inheritIO().start();
            assertEquals(true, compiler.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS), "g++ must end");
            assertEquals(0, compiler.exitValue(), String.join(" ", command));
        } catch (final IOException e) {
            assumeTrue(false, "skipped, needs g++: " + e.getMessage());
        }
        return new HostStage(program, types, heapBytes);
    }

    private void say(final String command) {
        try {
            commands.write(command + "\n");
        } catch (final IOException e) {
            throw new UncheckedIOException("the program ended: " + command, e);
        }
    }

    private String answer() {
        try {
            commands.flush();
            final String line = answers.readLine();
            if (line == null) {
                throw new IllegalStateException("the program ended");
            }
            return line;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns what the array of a word begins with: so many numbers of 32 bits. */
    int[] ints(final int word, final int count) {
        say("read " + word + " " + count);
        return IntStream.range(0, count)
                .map(i -> Integer.parseUnsignedInt(answer()))
                .toArray();
    }

    /** Returns how many objects there are, of an {@code ObjectHeap} or a {@code BitmapAlloc}. */
    long used() {
        say("used");
        return Long.parseLong(answer());
    }

    @Override
    public int idBytes() {
        return Long.BYTES; // Enough for every store.
    }

    @Override
    public void set(final int word, final long value) {
        say("set " + word + " " + value);
    }

    @Override
    public void array(final int word, final long bytes) {
        say("array " + word + " " + bytes);
    }

    @Override
    public long count(final int word) {
        return Integer.toUnsignedLong(ints(word, 1)[0]);
    }

    @Override
    public void launch(final String kernel) {
        say("launch " + kernel);
    }

    @Override
    public void list(final String type) {
        say("list "
                + IntStream.range(0, types.size())
                        .filter(i -> types.get(i).name().equals(type))
                        .findFirst()
                        .orElseThrow());
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
