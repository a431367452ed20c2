package examples.fake;

/** A binding of a program's own: functions with the names and parameters of CUDA's, some of which call inner ones. */
public final class OwnCuda {

    private static int inner;

    private OwnCuda() {}

    /** Returns how often the binding itself was asked. */
    static String counts() {
        return "binding: " + inner;
    }

    public static int cuMemAlloc_v2(final long[] address, final long sizeBytes) {
        inner++;
        address[0] = 1L << 40;
        return sizeBytes > 1 << 30 ? 2 : 0;
    }

    /** Takes a smaller number than CUDA's function. */
    public static int cuMemAlloc(final long[] address, final int sizeBytes) {
        inner++;
        return 2;
    }

    /** Answers an address rather than a code. */
    public static long cuMemAlloc_v2(final long sizeBytes) {
        final long[] address = new long[1];
        return cuMemAlloc_v2(address, sizeBytes) == 0 ? address[0] : 0;
    }

    public static int cuMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        return cuMemGetInfo_v2(freeBytes, totalBytes);
    }

    public static int cuMemGetInfo_v2(final long[] freeBytes, final long[] totalBytes) {
        inner++;
        return 0;
    }

    /** Checks the address, and calls the function proper. */
    public static int cuMemFree(final long address) {
        if (address == 0) {
            throw new IllegalArgumentException("address=0 must not be null");
        }
        return ncuMemFree(address);
    }

    public static int ncuMemFree(final long address) {
        inner++;
        return 0;
    }

    /** No facade stands for this function. */
    public static int cuMemAllocHost(final long[] address, final long sizeBytes) {
        inner++;
        return 0;
    }
}
