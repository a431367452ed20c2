package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Storage;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A stage in a process of its own does what this one says ({@code stage.cuh}): so kernels can run over allocators that
 * no {@link Storage} makes. Where the process ends, or is ended since it takes too long, methods throw an
 * {@link IllegalStateException}. Confined to one thread.
 */
final class ProcessStage implements TimedStage {

    /** The driver compiles a published allocator's kernels when they are first started, and keeps what it has compiled. */
    private static final int START_SECONDS = 60;

    private final List<ObjectType> types;
    private final Process process;
    private final BufferedWriter commands;
    private final BufferedReader answers;

    /**
     * Makes a stage, and its heap.
     *
     * @param process the stage's program, just started
     * @param heapBytes of what objects live in
     * @param limitSeconds until the process is ended, once the heap is made
     * @throws IllegalStateException if the process ends before, or takes over a minute; then it is ended
     */
    ProcessStage(final Process process, final List<ObjectType> types, final long heapBytes, final double limitSeconds) {
        this.types = List.copyOf(types);
        this.process = process;
        commands = process.outputWriter();
        answers = process.inputReader();
        final Future<?> tooLate = CompletableFuture.runAsync(process::destroyForcibly, after(START_SECONDS));
        try {
            makeHeap(heapBytes);
        } catch (final IllegalStateException e) {
            process.destroyForcibly();
            throw e;
        } finally {
            tooLate.cancel(false);
        }
        after(limitSeconds).execute(process::destroyForcibly);
    }

    private static Executor after(final double seconds) {
        return CompletableFuture.delayedExecutor((long) (seconds * 1e3), TimeUnit.MILLISECONDS);
    }

    private void makeHeap(final long heapBytes) {
        say("heap " + heapBytes);
        // Enough for pointers, too.
        types.forEach(type -> say("type " + type.mostListed() + " " + type.structureBytes(0, Long.BYTES)));
        array(REFUSED, Long.BYTES);
        array(FAULTS, Long.BYTES);
        refused(); // An answer comes when all is done.
    }

    private void say(final String command) {
        try {
            commands.write(command + "\n");
        } catch (final IOException e) {
            throw new IllegalStateException("the process of the stage ended", e);
        }
    }

    private String answer() {
        try {
            commands.flush();
            final String line = answers.readLine();
            if (line == null) {
                throw new IllegalStateException("the process of the stage ended");
            }
            return line;
        } catch (final IOException e) {
            throw new IllegalStateException("the process of the stage ended", e);
        }
    }

    /** Returns how many objects there are, where that can be known; else 0. */
    long used() {
        say("used");
        return Long.parseLong(answer());
    }

    /** Names of objects are as long as the longest. */
    @Override
    public int idBytes() {
        return Long.BYTES;
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
    public int[] ints(final int word, final int count) {
        say("read " + word + " " + count);
        return IntStream.range(0, count)
                .map(i -> Integer.parseUnsignedInt(answer()))
                .toArray();
    }

    @Override
    public long count(final int word) {
        final int[] halves = ints(word, 2);
        return Integer.toUnsignedLong(halves[0]) | (long) halves[1] << Integer.SIZE;
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
    public double microseconds(final Runnable work) {
        return timed(work, false);
    }

    @Override
    public double microsecondsOfLists(final Runnable work) {
        return timed(work, true);
    }

    private double timed(final Runnable work, final boolean ofLists) {
        say("begin " + (ofLists ? 1 : 0));
        work.run();
        say("end");
        return Double.parseDouble(answer());
    }

    @Override
    public void endAll() {
        types.forEach(type -> forEach(type.name(), "end" + type.name()));
        refused(); // An answer comes when all is done.
    }

    @Override
    public Storage.Usage usage() {
        return new Storage.Usage(-1, -1, -1);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
