package examples.fake;

/** The class stands for some functions of {@link Original}. */
public final class Facade {

    private Facade() {}

    public static int allocate(final long size) {
        return (int) size + 100;
    }

    /** Differs from the original, which returns an int. */
    public static long free(final long address) {
        return address + 300;
    }

    public static int added() {
        return hidden();
    }

    /** Has no counterpart in the original. */
    static int hidden() {
        return 500;
    }
}
