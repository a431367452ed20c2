package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import io.outboard.bench.kernels.programs.Store;
import java.util.List;

/**
 * A program in steps, each of which runs kernels for all objects of a type. What it comes to depends neither on where
 * objects lie nor on the order of threads, so that the CPU can compute the same.
 */
public interface Simulation {

    /** As it is called on the command line: letters and digits. */
    String name();

    /** What it was compiled with. */
    List<Store> stores();

    /**
     * One of its sizes.
     *
     * @param name without blanks
     * @param number what there is, as the simulation takes it
     * @param steps that are timed
     * @param heapBytes that are enough for every store
     */
    record Size(String name, int number, int steps, long heapBytes) {}

    /** The sizes to be timed, the smallest first; this is the one for quick runs as well. */
    List<Size> sizes();

    /** The types of a size, in the order of the kernels. */
    List<ObjectType> types(Size size);

    /** How many numbers of 32 bits the picture has. */
    int pictureLength(Size size);

    /** Whether it is also run for 300,000 steps, to see that nothing goes wrong in the long run. */
    boolean hasLongRuns();

    /** How many objects a picture shows, of all types: for runs that are too long for the CPU. */
    long objectsIn(int... picture);

    /**
     * Sets all that the stage is to know of the run, and makes the first objects; false if there is no room for them.
     */
    boolean start(Stage stage, Size size);

    /** Launches a step, from 1. */
    void step(Stage stage, int step);

    /** Has the picture drawn: what there is, number by number. */
    void draw(Stage stage);

    /** What the CPU comes to. */
    interface Reference {

        /** Computes a step. */
        void step();

        /** The same picture. */
        int[] picture();

        /** How many objects of each type there are. */
        long[] counts();
    }

    /** The CPU's twin, at the start. */
    Reference reference(Size size);

    /** What of the picture is to be shown, as {@link Png#base64}: at most some 256 rows and columns. */
    String png(Size size, int... picture);
}
