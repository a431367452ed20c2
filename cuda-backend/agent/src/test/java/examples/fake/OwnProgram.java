package examples.fake;

/** The program allocates by a binding of its own, and prints the codes and how often the binding itself was asked. */
public final class OwnProgram {

    private OwnProgram() {}

    public static void main(final String... args) {
        final long[] address = new long[1];
        int codes = 0;
        for (int i = 1; i <= 10; i++) {
            codes |= OwnCuda.cuMemAlloc_v2(address, 1000L * i);
            codes |= OwnCuda.cuMemFree(address[0]);
        }
        codes |= OwnCuda.cuMemAlloc(address, 1000);
        codes |= OwnCuda.cuMemFree(address[0]);
        codes |= OwnCuda.cuMemFree(OwnCuda.cuMemAlloc_v2(1000));
        codes |= OwnCuda.cuMemAllocHost(address, 1000);
        System.out.println("codes: " + codes + ", " + OwnCuda.counts());
        final long[] freeBytes = new long[1];
        OwnCuda.cuMemGetInfo(freeBytes, new long[1]);
        System.out.println("free bytes: " + (freeBytes[0] >> 20) + " MiB, " + OwnCuda.counts());
        System.out.println("second free: " + OwnCuda.cuMemFree(address[0]) + ", " + OwnCuda.counts());
        System.out.println("too much: " + OwnCuda.cuMemAlloc_v2(address, Long.MAX_VALUE) + ", " + address[0] + ", "
                + OwnCuda.counts());
        System.out.println(FakeNatives.counts());
    }
}
