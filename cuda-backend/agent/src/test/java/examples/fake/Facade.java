package examples.fake;

/** Stands for some functions of {@link Original}. */
public final class Facade {

    private Facade() {}

    public static int allocate(final long size) {
        return (int) size + 100;
    }

    /** The original returns an int. */
    public static long free(final long address) {
        return address + 300;
    }

    public static int added() {
        return hidden();
    }

    /** No part of the shape. */
    static int hidden() {
        return 500;
    }
}
