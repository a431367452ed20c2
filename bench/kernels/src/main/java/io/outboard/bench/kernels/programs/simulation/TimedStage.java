package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.Storage;

/** A timed stage also says what work takes, and what there is at its end. Confined to one thread. */
interface TimedStage extends Stage, AutoCloseable {

    /** Returns what the work that a runnable launches takes on the device, in microseconds. */
    double microseconds(Runnable work);

    /** Returns what the lists in it take. */
    double microsecondsOfLists(Runnable work);

    /** Destroys all objects of all types, and waits until that is done. */
    void endAll();

    /** Returns what is in use, after the work launched so far. */
    Storage.Usage usage();

    /** Returns what a word's array begins with, after the work launched so far: so many numbers of 32 bits. */
    int[] ints(int word, int count);

    @Override
    void close();
}
