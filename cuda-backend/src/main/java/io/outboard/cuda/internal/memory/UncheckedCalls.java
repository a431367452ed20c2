package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.DevicePointers;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import jcuda.NativePointerObject;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * JCuda's questions whether something has finished, without its check of the answer. To JCuda "not ready" is an error:
 * with its exceptions on, which is the program's business, each poll of an event took 24 us and left 36 KB of garbage.
 *
 * <p>The native methods behind the public ones are private; method handles reach them on the terms on which
 * {@link DevicePointers} reaches fields. Safe for any number of threads.
 */
final class UncheckedCalls {

    // A handle doesn't initialise its class before it is called: JCudaDriver can't be without a driver.
    private static final MethodHandle QUERY_EVENT = find(JCudaDriver.class, "cuEventQueryNative", CUevent.class);
    private static final MethodHandle QUERY_STREAM = find(JCudaDriver.class, "cuStreamQueryNative", CUstream.class);

    private UncheckedCalls() {}

    /** Finds the functions, or throws a {@link LinkageError} if this JCuda hasn't got them or keeps them closed. */
    static void initialize() {
        // The call of any static method runs the initialiser; nothing else is wanted here.
    }

    static int queryEvent(final CUevent event) {
        try {
            return (int) QUERY_EVENT.invokeExact(event);
        } catch (final Throwable e) {
            throw new LinkageError("cuEventQuery", e);
        }
    }

    static int queryStream(final CUstream stream) {
        try {
            return (int) QUERY_STREAM.invokeExact(stream);
        } catch (final Throwable e) {
            throw new LinkageError("cuStreamQuery", e);
        }
    }

    /** Finds a function of JCuda's that takes one object and returns a code, from below its check. */
    static MethodHandle find(
            final Class<?> owner, final String name, final Class<? extends NativePointerObject> parameter) {
        try {
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
                    .findStatic(owner, name, MethodType.methodType(int.class, parameter));
        } catch (final ReflectiveOperationException e) {
            throw new LinkageError(
                    "jcuda's " + owner.getSimpleName() + "." + name
                            + " must be reachable: use JCuda 12.6.0 on the class"
                            + " path, or open its package to this module",
                    e);
        }
    }
}
