package io.outboard.cuda;

import io.outboard.core.Strategies;
import io.outboard.cuda.driver.CudaUnavailableException;

/** The probe runs in a virtual machine of its own; see {@link CudaLoadingTest}. */
final class LazyLoadingProbe {

    private LazyLoadingProbe() {}

    public static void main(final String... args) throws ClassNotFoundException {
        Class.forName("io.outboard.cuda.CudaMemorySource");
        Class.forName("io.outboard.cuda.DeviceOpener");
        Class.forName("io.outboard.cuda.internal.memory.ContextMemorySource");
        Class.forName("io.outboard.cuda.internal.memory.NativeLibrary");
        System.out.println("strategies " + Strategies.all().size());
        for (int attempt = 0; attempt < args.length; attempt++) {
            try {
                CudaMemorySource.open(Integer.parseInt(args[attempt])).close();
                System.out.println("outcome works");
            } catch (final CudaUnavailableException e) {
                System.out.println("outcome " + e.getMessage());
            }
        }
    }
}
