package io.outboard.cuda.internal.facade;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** This class tells whether a thread is virtual, where there are such threads. */
final class VirtualThreads {

    /** The method {@code Thread.isVirtual}, which JDK 21 added. */
    private static final MethodHandle IS_VIRTUAL = isVirtualHandle();

    private VirtualThreads() {}

    /** Tells whether the calling thread is virtual. Its current device is the carrier thread's then, and may change. */
    static boolean isCurrent() {
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle isVirtualHandle() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (final ReflectiveOperationException e) {
            return MethodHandles.dropArguments(MethodHandles.constant(boolean.class, false), 0, Thread.class);
        }
    }
}
