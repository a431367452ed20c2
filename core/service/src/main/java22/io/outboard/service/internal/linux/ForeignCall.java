package io.outboard.service.internal.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * A foreign call makes a call of Linux and gets its {@code errno}. The call is made again if a signal interrupts it.
 */
final class ForeignCall {

    /** The layout of the state that takes the {@code errno}. */
    static final StructLayout STATE = Linker.Option.captureStateLayout();

    private static final Linker LINKER = Linker.nativeLinker();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private ForeignCall() {}

    @SuppressWarnings("restricted")
    static MethodHandle function(final String name, final MemoryLayout result, final MemoryLayout... parameters) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(result, parameters),
                Linker.Option.captureCallState("errno"));
    }

    /** Links a function whose parameters from the third on are variadic, and whose result is an int. */
    @SuppressWarnings("restricted")
    static MethodHandle variadic(final String name, final MemoryLayout... parameters) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters),
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(2));
    }

    /** A call can be made several times; the segment takes its {@code errno}. */
    interface Call {
        long make(Arena arena, MemorySegment state) throws Throwable;
    }

    /** Returns the result, 0 or more. */
    static long call(final String name, final Call call) throws LinuxException {
        return checked(name, attempt(call));
    }

    /** Returns the result of {@link #attempt} if the call didn't fail. */
    static long checked(final String name, final long result) throws LinuxException {
        if (result < 0) {
            throw new LinuxException(name, (int) -result);
        }
        return result;
    }

    /** Returns the result, or the error's number below 0. */
    static long attempt(final Call call) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment state = arena.allocate(STATE);
            while (true) {
                final long result = call.make(arena, state);
                if (result != -1) {
                    return result;
                }
                final int number = (int) ERRNO.get(state, 0L);
                if (number != LinuxException.EINTR) {
                    return -number;
                }
            }
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Returns what to throw for a failed downcall. A downcall throws nothing, but its signature allows for everything.
     */
    static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final Error e) {
            throw e;
        }
        return thrown instanceof final RuntimeException e ? e : new IllegalStateException(thrown);
    }
}
