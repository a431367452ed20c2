package io.outboard.cuda.internal.facade;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.JCudaCalls;
import java.util.function.IntSupplier;
import jcuda.CudaException;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaPitchedPtr;
import org.jspecify.annotations.Nullable;

/**
 * This binding is JCuda's runtime, or its driver, which throws errors if the program wants that. Its own switch is
 * private, so each facade has one. Safe for any number of threads.
 */
public final class JCudaBinding implements Binding {

    /** The address of a pointer. */
    public static final Place<Pointer> POINTER = new Place<>() {
        @Override
        public long get(final @Nullable Pointer pointer) {
            return pointer == null ? 0 : DevicePointers.address(pointer);
        }

        @Override
        public void set(final Pointer pointer, final long address) {
            DevicePointers.set(pointer, address);
        }
    };

    /** The first element of an array; JCuda takes empty ones, too. */
    public static final Place<long[]> ELEMENT = new Place<>() {
        @Override
        public long get(final long @Nullable [] array) {
            return array == null || array.length == 0 ? 0 : array[0];
        }

        @Override
        public void set(final long[] array, final long value) {
            if (array.length > 0) {
                array[0] = value;
            }
        }
    };

    private final boolean ofRuntime;
    private volatile boolean exceptionsEnabled;

    public JCudaBinding(final boolean ofRuntime) {
        this.ofRuntime = ofRuntime;
    }

    public void setExceptionsEnabled(final boolean enabled) {
        exceptionsEnabled = enabled;
    }

    @Override
    public int ask(final IntSupplier call) {
        return JCudaCalls.ask(call);
    }

    @Override
    public int result(final int code) {
        if (code != CudaCalls.SUCCESS && exceptionsEnabled) {
            throw new CudaException(ofRuntime ? cudaError.stringFor(code) : CUresult.stringFor(code));
        }
        return code;
    }

    /** Answers the handle of a stream or a context, 0 for null. */
    public static long handleOf(final @Nullable NativePointerObject object) {
        return object == null ? 0 : DevicePointers.handle(object);
    }

    /** Answers where a pointer points, 0 for null. */
    public static long addressOf(final @Nullable Pointer pointer) {
        return pointer == null ? 0 : DevicePointers.address(pointer);
    }

    /** Answers a device's number. */
    public static int numberOf(final @Nullable CUdevice device) {
        return device == null ? ContextPools.NO_DEVICE : (int) DevicePointers.handle(device);
    }

    /** Allocates slices of rows. */
    public int allocateSlices(
            final Facade facade, final cudaPitchedPtr slices, final cudaExtent extent, final IntSupplier original) {
        final boolean ordinary = slices != null && extent != null && extent.depth > 0 && extent.height > 0;
        // The driver refuses more rows than fit into a long.
        final long rows = !ordinary || extent.depth > Long.MAX_VALUE / extent.height ? 0 : extent.height * extent.depth;
        final Pointer pointer = !ordinary || slices.ptr == null ? new Pointer() : slices.ptr;
        final long[] pitch = {-1};
        final int code =
                facade.allocateRows(pointer, POINTER, pitch, ELEMENT, ordinary ? extent.width : 0, rows, () -> {
                    final int answer = ask(original);
                    if (answer != CudaCalls.SUCCESS && slices.ptr != null) {
                        DevicePointers.set(slices.ptr, 0);
                    }
                    return answer;
                });
        if (code == CudaCalls.SUCCESS && pitch[0] >= 0) {
            slices.ptr = pointer;
            slices.pitch = pitch[0];
            slices.xsize = extent.width;
            slices.ysize = extent.height;
        }
        return code;
    }
}
