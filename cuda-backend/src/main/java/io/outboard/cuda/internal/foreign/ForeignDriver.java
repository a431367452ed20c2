package io.outboard.cuda.internal.foreign;

/**
 * The driver's functions with segments of memory instead of JCuda's objects. This class has none, since it is for JDK
 * 17 to 21, which have no such segments; on newer JDKs the class of the same name in the jar's {@code
 * META-INF/versions/22} takes its place.
 */
public final class ForeignDriver {

    private ForeignDriver() {}
}
