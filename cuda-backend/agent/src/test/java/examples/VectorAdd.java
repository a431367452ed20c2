package examples;

import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/** The program adds two vectors by a kernel in PTX, through the driver's API and a context of its own. */
public final class VectorAdd {

    private static final int LENGTH = 1_000_003;
    private static final int THREADS = 256;
    private static final int ROUNDS = 20;

    private static final String PTX = """
            .version 6.0
            .target sm_50
            .address_size 64

            .visible .entry add(.param .u32 length, .param .u64 a, .param .u64 b, .param .u64 sum)
            {
                .reg .pred %p<2>;
                .reg .b32 %r<6>;
                .reg .f32 %f<4>;
                .reg .b64 %rd<8>;

                ld.param.u32 %r1, [length];
                mov.u32 %r2, %ctaid.x;
                mov.u32 %r3, %ntid.x;
                mov.u32 %r4, %tid.x;
                mad.lo.u32 %r5, %r2, %r3, %r4;
                setp.ge.u32 %p1, %r5, %r1;
                @%p1 bra done;
                ld.param.u64 %rd1, [a];
                ld.param.u64 %rd2, [b];
                ld.param.u64 %rd3, [sum];
                mul.wide.u32 %rd4, %r5, 4;
                add.u64 %rd5, %rd1, %rd4;
                add.u64 %rd6, %rd2, %rd4;
                add.u64 %rd7, %rd3, %rd4;
                ld.global.f32 %f1, [%rd5];
                ld.global.f32 %f2, [%rd6];
                add.f32 %f3, %f1, %f2;
                st.global.f32 [%rd7], %f3;
            done:
                ret;
            }
            """;

    private VectorAdd() {}

    public static void main(final String... args) {
        JCudaDriver.setExceptionsEnabled(true);
        JCudaDriver.cuInit(0);
        final CUdevice device = new CUdevice();
        JCudaDriver.cuDeviceGet(device, 0);
        final CUcontext context = new CUcontext();
        JCudaDriver.cuCtxCreate(context, 0, device);
        final CUmodule module = new CUmodule();
        JCudaDriver.cuModuleLoadData(module, PTX);
        final CUfunction function = new CUfunction();
        JCudaDriver.cuModuleGetFunction(function, module, "add");

        final float[] a = new float[LENGTH];
        final float[] b = new float[LENGTH];
        for (int i = 0; i < LENGTH; i++) {
            a[i] = i % 1000;
            b[i] = i % 777;
        }
        final float[] sum = new float[LENGTH];
        int wrong = 0;
        double total = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            // Each round has a size of its own, and memory that is freed right after the wait for the launch.
            final int length = LENGTH / round;
            add(function, a, b, sum, length);
            for (int i = 0; i < length; i++) {
                wrong += sum[i] == a[i] + b[i] ? 0 : 1;
                total += sum[i];
            }
        }
        System.out.println("wrong sums: " + wrong);
        System.out.println("total: " + total);
        JCudaDriver.cuModuleUnload(module);
        JCudaDriver.cuCtxDestroy(context);
    }

    private static void add(
            final CUfunction function, final float[] a, final float[] b, final float[] sum, final int length) {
        final long sizeBytes = (long) length * Sizeof.FLOAT;
        final CUdeviceptr deviceA = new CUdeviceptr();
        final CUdeviceptr deviceB = new CUdeviceptr();
        final CUdeviceptr deviceSum = new CUdeviceptr();
        JCudaDriver.cuMemAlloc(deviceA, sizeBytes);
        JCudaDriver.cuMemAlloc(deviceB, sizeBytes);
        JCudaDriver.cuMemAlloc(deviceSum, sizeBytes);
        JCudaDriver.cuMemcpyHtoD(deviceA, Pointer.to(a), sizeBytes);
        JCudaDriver.cuMemcpyHtoD(deviceB, Pointer.to(b), sizeBytes);
        final Pointer parameters = Pointer.to(
                Pointer.to(new int[] {length}), Pointer.to(deviceA), Pointer.to(deviceB), Pointer.to(deviceSum));
        final int blocks = (length + THREADS - 1) / THREADS;
        JCudaDriver.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, null, parameters, null);
        JCudaDriver.cuMemcpyDtoH(Pointer.to(sum), deviceSum, sizeBytes);
        JCudaDriver.cuMemFree(deviceA);
        JCudaDriver.cuMemFree(deviceB);
        JCudaDriver.cuMemFree(deviceSum);
    }
}
