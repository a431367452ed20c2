package com.example;

import java.util.function.LongUnaryOperator;

/** A program that allocates, outside of the packages whose frames are left out. */
public final class Program {

    private Program() {}

    /** Allocates; the tests know the method's name. */
    public static long step(final LongUnaryOperator allocate, final long bytes) {
        return allocate.applyAsLong(bytes);
    }
}
