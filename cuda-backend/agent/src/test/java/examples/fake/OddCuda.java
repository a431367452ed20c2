package examples.fake;

/** A binding whose function has other parameters than CUDA's, and a program that calls none. */
public final class OddCuda {

    private OddCuda() {}

    public static void main(final String... args) {
        System.out.println("main");
    }

    public static int cuMemAlloc(final String name, final long sizeBytes) {
        return name.length();
    }
}
