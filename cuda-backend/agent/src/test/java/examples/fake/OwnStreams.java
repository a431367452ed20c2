package examples.fake;

/**
 * A binding of a program's own, with functions for either default stream, and a program that captures that of its
 * thread. Each function prints its name.
 */
public final class OwnStreams {

    private static final long OF_GRAPH = 1L << 40;

    private OwnStreams() {}

    public static void main(final String... args) {
        final long[] pointer = new long[1];
        int codes = cudaMallocAsync(pointer, 1000, 0);
        codes |= cudaFreeAsync(pointer[0], 0);
        codes |= cudaStreamBeginCapture_ptsz(0, 0);
        codes |= cudaMallocAsync(pointer, 1000, 0);
        final int refused = cudaFreeAsync_ptsz(pointer[0], 0);
        codes |= cudaFreeAsync(pointer[0], 0);
        codes |= cudaMallocAsync_ptsz(pointer, 1000, 0);
        codes |= cudaFreeAsync_ptsz(pointer[0], 0);
        codes |= cudaStreamEndCapture_ptsz(0, pointer);
        System.out.println("codes: " + codes + ", free of a pool's block by a graph: " + refused);
    }

    private static int called(final String name) {
        System.out.println("binding: " + name);
        return 0;
    }

    public static int cudaMallocAsync(final long[] address, final long sizeBytes, final long stream) {
        return called("cudaMallocAsync");
    }

    public static int cudaMallocAsync_ptsz(final long[] address, final long sizeBytes, final long stream) {
        address[0] = OF_GRAPH;
        return called("cudaMallocAsync_ptsz");
    }

    public static int cudaFreeAsync(final long address, final long stream) {
        return called("cudaFreeAsync");
    }

    public static int cudaFreeAsync_ptsz(final long address, final long stream) {
        return called("cudaFreeAsync_ptsz");
    }

    public static int cudaStreamBeginCapture_ptsz(final long stream, final int mode) {
        return called("cudaStreamBeginCapture_ptsz");
    }

    public static int cudaStreamEndCapture_ptsz(final long stream, final long[] graph) {
        return called("cudaStreamEndCapture_ptsz");
    }
}
