package examples.fake;

/** A binding whose function has other parameters than CUDA's. */
public final class OddCuda {

    private OddCuda() {}

    public static int cuMemAlloc(final String name, final long sizeBytes) {
        return name.length();
    }
}
