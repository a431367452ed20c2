package examples.fake;

import java.lang.reflect.InvocationTargetException;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaDeviceProp;

/**
 * The program allocates in all ways, and prints the codes and the calls that reached the driver. With an argument the
 * program resets the device, too.
 */
public final class AllocatingProgram {

    private static final int TIMES = 100;

    /** The interface is the type of method references. */
    private interface Allocation {
        int allocate(Pointer pointer, long size);
    }

    private AllocatingProgram() {}

    // Old programs call cudaThreadExit.
    @SuppressWarnings("deprecation")
    public static void main(final String... args) throws ReflectiveOperationException {
        int codes = 0;
        for (int i = 1; i <= TIMES; i++) {
            final Pointer pointer = new Pointer();
            codes |= JCuda.cudaMalloc(pointer, 1000L * i);
            codes |= JCuda.cudaFree(pointer);
        }
        codes |= allocate(JCuda::cudaMalloc);
        final CUdeviceptr pointer = new CUdeviceptr();
        codes |= JCudaDriver.cuMemAlloc(pointer, 1000);
        codes |= JCudaDriver.cuMemFree(pointer);
        codes |= JCuda.cudaGetDeviceProperties(new cudaDeviceProp(), 0);
        codes |= allocate(AllocatingProgram::byReflection);
        if (args.length > 0) {
            codes |= args[0].equals("cudaThreadExit") ? JCuda.cudaThreadExit() : JCuda.cudaDeviceReset();
            codes |= allocate(JCuda::cudaMalloc);
        }
        System.out.println("codes: " + codes);
        System.out.println(FakeNatives.counts());
    }

    private static int allocate(final Allocation allocation) {
        final Pointer pointer = new Pointer();
        final int code = allocation.allocate(pointer, 1000);
        return code | JCuda.cudaFree(pointer);
    }

    private static int byReflection(final Pointer pointer, final long size) {
        try {
            return (int) JCuda.class
                    .getMethod("cudaMalloc", Pointer.class, long.class)
                    .invoke(null, pointer, size);
        } catch (final NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(e);
        }
    }
}
