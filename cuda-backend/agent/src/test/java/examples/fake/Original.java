package examples.fake;

/** The class has the shape of JCuda's classes: static functions that return a code. */
public final class Original {

    private Original() {}

    public static int allocate(final long size) {
        return (int) size + 1;
    }

    public static int allocate(final int size) {
        return size + 2;
    }

    public static int free(final long address) {
        return (int) address + 3;
    }

    public static int query() {
        return 4;
    }
}
