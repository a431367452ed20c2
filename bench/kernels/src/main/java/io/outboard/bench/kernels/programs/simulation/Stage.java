package io.outboard.bench.kernels.programs.simulation;

/**
 * A stage is what a simulation runs on: its kernels, their parameter ({@code Run} in {@code stores.cuh}), its objects
 * and arrays. Confined to one thread.
 */
interface Stage {

    /** The words that each program has: where it draws, and where it counts refused objects and faults. */
    int PICTURE = 0;

    int REFUSED = 1;
    int FAULTS = 2;

    /** The first word of a program's own. */
    int OWN = 3;

    /** Returns the bytes of a field that names an object. */
    int idBytes();

    /** Sets a word of the simulation's own. */
    void set(int word, long value);

    /** Takes an array of zeroes, and sets a word of the simulation's own to its address. */
    void array(int word, long bytes);

    /** Returns the first number of 64 bits in a word's array, after the work launched so far. */
    long count(int word);

    /** Returns how many objects weren't made for want of memory, by the work launched so far. */
    default long refused() {
        return count(REFUSED);
    }

    /** Returns how often kernels found a state that mustn't be. */
    default long faults() {
        return count(FAULTS);
    }

    /** Launches a kernel: all threads of the stage share the work. */
    void launch(String kernel);

    /** Lists a type's objects, for the kernels that follow. */
    void list(String type);

    /** Lists a type's objects, and launches a kernel that visits them. */
    default void forEach(final String type, final String kernel) {
        list(type);
        launch(kernel);
    }
}
