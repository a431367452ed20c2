package examples.fake;

import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The class does what JCuda's native functions do in a fake of JCuda: there is a device of 1 GiB with one context,
 * whose addresses have no memory behind them. A native function that has no namesake here does nothing and succeeds.
 * Objects are JCuda's, found by reflection, since this class is compiled without JCuda.
 */
public final class FakeNatives {

    private static final long DEVICE_BYTES = 1L << 30;
    private static final int OUT_OF_MEMORY = 2;
    private static final AtomicLong NEXT_ADDRESS = new AtomicLong(DEVICE_BYTES);
    private static final AtomicInteger ALLOCATIONS = new AtomicInteger();
    private static final AtomicInteger FREES = new AtomicInteger();

    private FakeNatives() {}

    /** Returns what the driver was asked for. */
    public static String counts() {
        return "driver: " + ALLOCATIONS + " allocations, " + FREES + " frees";
    }

    public static int cudaGetDeviceCountNative(final int[] count) {
        count[0] = 1;
        return 0;
    }

    public static int cudaMemGetInfoNative(final long[] freeBytes, final long[] totalBytes) {
        freeBytes[0] = DEVICE_BYTES;
        totalBytes[0] = DEVICE_BYTES;
        return 0;
    }

    public static int cuMemGetInfoNative(final long[] freeBytes, final long[] totalBytes) {
        return cudaMemGetInfoNative(freeBytes, totalBytes);
    }

    public static int cudaMallocNative(final Object pointer, final long sizeBytes) {
        if (sizeBytes > DEVICE_BYTES) {
            return OUT_OF_MEMORY;
        }
        ALLOCATIONS.incrementAndGet();
        return set(pointer, NEXT_ADDRESS.getAndAdd((sizeBytes + 511) & -512));
    }

    public static int cuMemAllocNative(final Object pointer, final long sizeBytes) {
        return cudaMallocNative(pointer, sizeBytes);
    }

    /** The pitch is a multiple of 512. */
    public static int cuMemAllocPitchNative(
            final Object pointer, final long[] pitch, final long width, final long height, final int element) {
        pitch[0] = (width + 511) & -512;
        return cudaMallocNative(pointer, pitch[0] * height);
    }

    public static int cudaFreeNative(final Object pointer) {
        FREES.incrementAndGet();
        return 0;
    }

    public static int cuMemFreeNative(final Object pointer) {
        return cudaFreeNative(pointer);
    }

    public static int cuCtxCreateNative(final Object context, final int flags, final Object device) {
        return cuCtxGetCurrentNative(context);
    }

    public static int cuCtxGetCurrentNative(final Object context) {
        return set(context, 1);
    }

    public static int cuDevicePrimaryCtxGetStateNative(final Object device, final int[] flags, final int[] active) {
        active[0] = 1;
        return 0;
    }

    public static int cuDevicePrimaryCtxRetainNative(final Object context, final Object device) {
        return cuCtxGetCurrentNative(context);
    }

    private static int set(final Object nativePointer, final long value) {
        Class<?> type = nativePointer.getClass();
        while (type != null) {
            try {
                final Field field = type.getDeclaredField("nativePointer");
                field.setAccessible(true);
                field.setLong(nativePointer, value);
                return 0;
            } catch (final NoSuchFieldException e) {
                type = type.getSuperclass();
            } catch (final IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalStateException(nativePointer + " must be one of JCuda's objects");
    }
}
