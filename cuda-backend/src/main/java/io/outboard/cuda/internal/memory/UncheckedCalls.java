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
 * This class asks JCuda whether something has finished, without JCuda's check of the answer. To JCuda "not ready" is an
 * error: with JCuda's exceptions on, which the program decides, each poll of an event took 24 us and left 36 KB of
 * garbage.
 *
 * <p>The native methods behind the public ones are private; method handles reach them under the same conditions under
 * which {@link DevicePointers} reaches fields. Safe for any number of threads.
 */
final class UncheckedCalls {

    // A handle doesn't initialise its class before it is called, as JCudaDriver can't be initialised without a driver.
    private static final MethodHandle QUERY_EVENT = find(JCudaDriver.class, "cuEventQueryNative", CUevent.class);
    private static final MethodHandle QUERY_STREAM = find(JCudaDriver.class, "cuStreamQueryNative", CUstream.class);

    private UncheckedCalls() {}

    /** Finds the functions, or throws a {@link LinkageError} if this JCuda lacks them or doesn't let us reach them. */
    static void initialize() {
        // The call of any static method runs the class's initialiser, which finds the functions.
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

    /** Finds a native function of JCuda that takes one object and returns a code, without JCuda's check. */
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
