package io.outboard.cuda.internal.foreign;

/**
 * This class stands for the driver's functions with memory segments instead of JCuda's objects. On JDK 17 to 21, which
 * have no such segments, the class is empty; on newer JDKs the class of the same name in the jar's
 * {@code META-INF/versions/22} takes its place.
 */
public final class ForeignDriver {

    private ForeignDriver() {}
}
