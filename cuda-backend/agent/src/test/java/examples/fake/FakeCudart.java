package examples.fake;

import java.lang.reflect.Field;
import java.nio.LongBuffer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.javacpp.SizeTPointer;

/**
 * The class does what the native functions of JavaCPP's class do in a fake of it, for the device of {@link FakeNatives}.
 * A native function that has no namesake here does nothing and succeeds.
 */
public final class FakeCudart {

    private static final int INVALID_VALUE = 1;

    private static int allocations;
    private static int frees;

    private FakeCudart() {}

    /** Returns what CUDA was asked for by the program. */
    static String counts() {
        return allocations + " allocations, " + frees + " frees";
    }

    public static int cudaMalloc(final Object pointer, final long sizeBytes) {
        if (pointer == null) {
            return INVALID_VALUE;
        }
        final Allocated allocated = new Allocated();
        final int code = FakeNatives.cudaMallocNative(allocated, sizeBytes);
        if (code == 0) {
            allocations++;
            set(pointer, allocated.nativePointer);
        }
        return code;
    }

    /** The fake of JCuda sets a field of this name. */
    private static final class Allocated {
        private long nativePointer;
    }

    /** An address of a pointer, to be set. */
    private static final class Settable extends Pointer {
        Settable(final long address) {
            this.address = address;
        }
    }

    private static void set(final Object pointer, final long address) {
        if (pointer instanceof final long[] array) {
            array[0] = address;
        } else if (pointer instanceof final LongBuffer buffer) {
            buffer.put(buffer.position(), address);
        } else if (pointer instanceof final LongPointer numbers) {
            numbers.put(0, address);
        } else if (pointer instanceof final PointerPointer<?> pointers) {
            pointers.put(0, new Settable(address));
        } else {
            setAddress((Pointer) pointer, address);
        }
    }

    private static void setAddress(final Pointer pointer, final long address) {
        try {
            final Field field = Pointer.class.getDeclaredField("address");
            field.setAccessible(true);
            field.setLong(pointer, address);
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static int cuCtxCreate(final Object context, final Object parameters, final int flags, final int device) {
        setAddress((Pointer) context, 1);
        return 0;
    }

    public static int cuMemAlloc(final Object pointer, final long sizeBytes) {
        return cudaMalloc(pointer, sizeBytes);
    }

    public static int cuMemAlloc(final long[] pointer, final long sizeBytes) {
        return cudaMalloc(pointer, sizeBytes);
    }

    public static int cudaFree(final Object pointer) {
        frees++;
        return 0;
    }

    public static int cuMemFree(final long address) {
        frees++;
        return 0;
    }

    public static int cudaMemGetInfo(final Object freeBytes, final Object totalBytes) {
        final long[] free = new long[1];
        final long[] total = new long[1];
        FakeNatives.cudaMemGetInfoNative(free, total);
        ((SizeTPointer) freeBytes).put(free[0]);
        ((SizeTPointer) totalBytes).put(total[0]);
        return 0;
    }
}
