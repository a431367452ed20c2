package io.outboard.cuda.kernels.internal;

import static io.outboard.cuda.internal.memory.JCudaCalls.ask;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.CudaCalls;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUjitInputType;
import jcuda.driver.CUjit_option;
import jcuda.driver.CUlimit;
import jcuda.driver.CUlinkState;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.driver.JITOptions;

/** This class makes the {@link KernelCalls} by JCuda, with its exceptions on or off. */
final class JCudaKernelCalls implements KernelCalls {

    private static final int LOG_BYTES = 16 * 1024;

    @Override
    public int load(final long[] module, final byte[] image, final String[] log) {
        final JITOptions options = new JITOptions();
        for (final int buffer : new int[] {CUjit_option.CU_JIT_ERROR_LOG_BUFFER, CUjit_option.CU_JIT_INFO_LOG_BUFFER}) {
            options.putBytes(buffer, new byte[LOG_BYTES]);
            // The option with the number after that of a buffer is the buffer's size.
            options.putInt(buffer + 1, LOG_BYTES);
        }
        final CUmodule result = new CUmodule();
        final int code = ask(() -> JCudaDriver.cuModuleLoadDataJIT(result, terminated(image), options));
        log[0] = (options.getString(CUjit_option.CU_JIT_ERROR_LOG_BUFFER).strip() + "\n"
                        + options.getString(CUjit_option.CU_JIT_INFO_LOG_BUFFER).strip())
                .strip();
        return taken(module, result, code);
    }

    @Override
    public int unload(final long module) {
        return ask(() -> JCudaDriver.cuModuleUnload(DevicePointers.withHandle(new CUmodule(), module)));
    }

    @Override
    public int function(final long[] function, final long module, final String name) {
        final CUfunction result = new CUfunction();
        final CUmodule from = DevicePointers.withHandle(new CUmodule(), module);
        return taken(function, result, ask(() -> JCudaDriver.cuModuleGetFunction(result, from, name)));
    }

    @Override
    public int attribute(final int[] value, final int attribute, final long function) {
        final CUfunction of = DevicePointers.withHandle(new CUfunction(), function);
        return ask(() -> JCudaDriver.cuFuncGetAttribute(value, attribute, of));
    }

    @Override
    public int launch(
            final long function,
            final int gridBlocks,
            final int blockThreads,
            final long stream,
            final NativePointerObject... arguments) {
        return ask(() -> JCudaDriver.cuLaunchKernel(
                DevicePointers.withHandle(new CUfunction(), function),
                gridBlocks,
                1,
                1,
                blockThreads,
                1,
                1,
                0,
                DevicePointers.withHandle(new CUstream(), stream),
                Pointer.to(arguments),
                null));
    }

    /**
     * {@inheritDoc} The driver gets no buffers for logs: JCuda 12.6.0 frees such buffers when this call returns, but
     * the driver writes to them until the link is destroyed.
     */
    @Override
    public int createLink(final long[] link) {
        final CUlinkState result = new CUlinkState();
        return taken(link, result, ask(() -> JCudaDriver.cuLinkCreate(new JITOptions(), result)));
    }

    @Override
    public int addToLink(final long link, final String name, final String ptx) {
        final byte[] text = ptx.getBytes(StandardCharsets.UTF_8);
        return ask(() -> JCudaDriver.cuLinkAddData(
                DevicePointers.withHandle(new CUlinkState(), link),
                CUjitInputType.CU_JIT_INPUT_PTX,
                terminated(text),
                text.length + 1L,
                name,
                new JITOptions()));
    }

    @Override
    public int completeLink(final long[] module, final long link) {
        final Pointer image = new Pointer();
        final CUmodule result = new CUmodule();
        final CUlinkState state = DevicePointers.withHandle(new CUlinkState(), link);
        int code = ask(() -> JCudaDriver.cuLinkComplete(state, image, new long[1]));
        if (code == CudaCalls.SUCCESS) {
            code = ask(() -> JCudaDriver.cuModuleLoadDataJIT(result, image, new JITOptions()));
        }
        return taken(module, result, code);
    }

    @Override
    public int destroyLink(final long link) {
        return ask(() -> JCudaDriver.cuLinkDestroy(DevicePointers.withHandle(new CUlinkState(), link)));
    }

    @Override
    public int multiprocessors(final int[] count) {
        final CUdevice device = new CUdevice();
        final int code = ask(() -> JCudaDriver.cuCtxGetDevice(device));
        return code != CudaCalls.SUCCESS
                ? code
                : ask(() -> JCudaDriver.cuDeviceGetAttribute(
                        count, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    }

    @Override
    public int mallocHeapBytes(final long[] bytes) {
        return ask(() -> JCudaDriver.cuCtxGetLimit(bytes, CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE));
    }

    @Override
    public int setMallocHeapBytes(final long bytes) {
        return ask(() -> JCudaDriver.cuCtxSetLimit(CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, bytes));
    }

    /**
     * {@inheritDoc} The bytes go through a buffer outside of the Java heap: where the virtual machine lends a copy of
     * an array, as with {@code -Xcheck:jni}, JCuda discards the copied bytes.
     */
    @Override
    public int copyToHost(final long[] words, final long address) {
        final CUdeviceptr from = new CUdeviceptr();
        DevicePointers.set(from, address);
        final ByteBuffer buffer =
                ByteBuffer.allocateDirect(Long.BYTES * words.length).order(ByteOrder.nativeOrder());
        final int code = ask(() -> JCudaDriver.cuMemcpyDtoH(Pointer.to(buffer), from, buffer.capacity()));
        if (code == CudaCalls.SUCCESS) {
            buffer.asLongBuffer().get(words);
        }
        return code;
    }

    /** Copies an image out of the Java heap, so that no collection waits while the driver compiles. */
    private static Pointer terminated(final byte[] image) {
        return Pointer.to(ByteBuffer.allocateDirect(image.length + 1).put(image).rewind());
    }

    private static int taken(final long[] handle, final NativePointerObject object, final int code) {
        if (code == CudaCalls.SUCCESS) {
            handle[0] = DevicePointers.handle(object);
        }
        return code;
    }
}
