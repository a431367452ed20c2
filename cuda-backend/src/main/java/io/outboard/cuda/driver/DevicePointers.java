package io.outboard.cuda.driver;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import jcuda.NativePointerObject;
import jcuda.Pointer;

/**
 * This class reads and writes the device address in a JCuda {@link Pointer}, for which JCuda has no public way.
 *
 * <p>The address is the sum of two private fields, {@code NativePointerObject.nativePointer} and
 * {@code Pointer.byteOffset}. Variable handles reach both without flags while JCuda is on the class path, in under a
 * nanosecond and without garbage. Identity is the {@code long}: {@code Pointer.equals} ignores the offset.
 *
 * <p>Thread-safety: plain reads and writes; a pointer is confined to one thread, or external lock required. Cost: O(1).
 */
public final class DevicePointers {

    // Exact handles refuse a call whose static types differ from the field's, which would be adapted each time.
    private static final VarHandle NATIVE_POINTER =
            field(NativePointerObject.class, "nativePointer").withInvokeExactBehavior();
    private static final VarHandle BYTE_OFFSET =
            field(Pointer.class, "byteOffset").withInvokeExactBehavior();

    private DevicePointers() {}

    /**
     * Answers where a pointer points.
     *
     * @param pointer to device memory; the result for a pointer to a Java array or a buffer has no meaning
     * @return absolute device address, 0 for a null pointer
     */
    public static long address(final Pointer pointer) {
        return (long) NATIVE_POINTER.get((NativePointerObject) pointer) + (long) BYTE_OFFSET.get(pointer);
    }

    /**
     * Lets a pointer point elsewhere; its byte offset becomes 0, as JCuda itself leaves it after an allocation.
     *
     * @param pointer a pointer made by a constructor without arguments, a {@code CUdeviceptr} included
     * @param address absolute device address, or 0 for null
     */
    public static void set(final Pointer pointer, final long address) {
        NATIVE_POINTER.set((NativePointerObject) pointer, address);
        BYTE_OFFSET.set(pointer, 0L);
    }

    /**
     * Answers the handle in one of JCuda's objects for streams, events and contexts.
     *
     * @param object not a {@link Pointer}
     * @return the handle, 0 for null
     */
    public static long handle(final NativePointerObject object) {
        return (long) NATIVE_POINTER.get(object);
    }

    /**
     * Lets an object stand for another stream, event or context.
     *
     * @param object not a {@link Pointer}
     * @param handle the handle
     * @param <T> its type
     * @return the object
     */
    public static <T extends NativePointerObject> T withHandle(final T object, final long handle) {
        NATIVE_POINTER.set((NativePointerObject) object, handle);
        return object;
    }

    /**
     * Makes a new pointer, which is garbage later, so this method isn't for the hot path.
     *
     * @param address absolute device address, or 0 for null
     * @return a new pointer
     */
    public static Pointer pointerTo(final long address) {
        final Pointer pointer = new Pointer();
        set(pointer, address);
        return pointer;
    }

    private static VarHandle field(final Class<?> owner, final String name) {
        try {
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, long.class);
        } catch (final ReflectiveOperationException e) {
            throw new LinkageError(
                    "jcuda's " + owner.getSimpleName() + "." + name
                            + " must be reachable: use JCuda 12.6.0 on the class"
                            + " path, or open its package to this module",
                    e);
        }
    }
}
