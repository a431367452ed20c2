package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import java.util.List;

/**
 * A simulation is a program in steps, each of which runs kernels for all objects of a type. Its result depends neither
 * on where objects lie nor on the order of threads, so that the CPU can compute the same.
 */
public interface Simulation {

    /** Returns the name on the command line: letters and digits. */
    String name();

    /**
     * A size is how much the simulation has to do.
     *
     * @param name without blanks
     * @param number of objects or places, as the simulation takes it
     * @param steps that are timed
     * @param heapBytes that are enough for every store
     */
    record Size(String name, int number, int steps, long heapBytes) {

        Size withNumber(final int other) {
            return new Size(name, other, steps, heapBytes);
        }
    }

    /** Returns the sizes to time, the smallest first, which is also the one for quick runs. */
    List<Size> sizes();

    /**
     * Returns the size that the search for the largest problem begins with. The heap is that of each store, and the
     * steps must pass without a refusal. Where each body meets each other one, the heap is small, or a step would take
     * too long.
     */
    Size searched();

    /** Returns how large a problem is: its cells, places, nodes or bodies. */
    long elements(Size size);

    /** Returns the types of a size, in the order of the kernels. */
    List<ObjectType> types(Size size);

    /** Returns how many numbers of 32 bits the picture has. */
    int pictureLength(Size size);

    /** Returns whether the simulation also runs for 300,000 steps, to see that nothing goes wrong in the long run. */
    boolean hasLongRuns();

    /** Returns how many objects a picture shows, of all types: for runs that are too long for the CPU. */
    long objectsIn(int... picture);

    /**
     * Tells the stage what it needs to know of the run, and makes the first objects; false if there is no room for
     * them.
     */
    boolean start(Stage stage, Size size);

    /** Launches a step; steps count from 1. */
    void step(Stage stage, int step);

    /** Draws the picture, which has numbers for what exists. */
    void draw(Stage stage);

    /** The reference computes the CPU's result. */
    interface Reference {

        /** Computes a step. */
        void step();

        /** Returns the same picture as the device draws. */
        int[] picture();

        /** Returns how many objects of each type exist. */
        long[] counts();
    }

    /** Returns the CPU's twin, at the start. */
    Reference reference(Size size);

    /** Returns the picture to show, as {@link Png#base64} does: at most some 256 rows and columns. */
    String png(Size size, int... picture);
}
