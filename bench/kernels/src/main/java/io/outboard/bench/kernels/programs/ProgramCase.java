package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.DeviceCase;
import java.util.List;

/**
 * A case is one program to run. Immutable.
 *
 * @param program its name
 * @param store where its objects live
 * @param size one of the program's sizes, by name, without blanks
 * @param mode what is measured
 * @param heapBytes size of the heap, {@code 0 < heapBytes}
 * @param steps how many are timed, or done, {@code 0 < steps}
 */
public record ProgramCase(String program, Store store, String size, Mode mode, long heapBytes, int steps)
        implements DeviceCase {

    /** The time that the CPU takes for the same steps, together with that of three runs. */
    private static final int SECONDS = 300;

    /** The mode says what is measured. */
    public enum Mode {
        /** The time of steps is measured. */
        TIME,
        /** The least heap that is enough is looked for. */
        MEMORY,
        /** The largest problem that the heap is enough for is looked for. */
        LARGEST,
        /** Many steps check that the program stays correct in the long run. */
        LONG
    }

    /**
     * Returns the name of the case in rows of tables, without the store.
     *
     * @return for example {@code wator 2048x2048}
     */
    public String name() {
        return program + " " + size;
    }

    @Override
    public String line() {
        return String.join(
                " ",
                List.of(program, store.name(), size, mode.name(), String.valueOf(heapBytes), String.valueOf(steps)));
    }

    /** Returns the same case with another store. */
    public ProgramCase with(final Store other) {
        return new ProgramCase(program, other, size, mode, heapBytes, steps);
    }

    /** Reads a line of {@link #line}. */
    public static ProgramCase parse(final String line) {
        final String[] words = line.split(" ", -1);
        return new ProgramCase(
                words[0],
                new Store(words[1]),
                words[2],
                Mode.valueOf(words[3]),
                Long.parseLong(words[4]),
                Integer.parseInt(words[5]));
    }

    @Override
    public JsonLine json() {
        return new JsonLine()
                .put("program", program)
                .put("store", store.label())
                .put("size", size)
                .put("mode", mode.name())
                .put("heapBytes", heapBytes)
                .put("steps", (long) steps);
    }

    @Override
    public long driverHeapBytes() {
        return store.isCuda() ? heapBytes : 0;
    }

    @Override
    public String resource() {
        return "/io/outboard/bench/kernels/programs/" + store.resource(program);
    }

    @Override
    public int seconds() {
        return SECONDS;
    }
}
