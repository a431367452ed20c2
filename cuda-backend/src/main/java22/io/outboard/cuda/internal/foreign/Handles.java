package io.outboard.cuda.internal.foreign;

import io.outboard.cuda.internal.facade.Facade;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.LongToIntFunction;
import java.util.function.ToIntFunction;

/** These functions make method handles of lambdas, and throw on what calls of method handles have thrown. */
final class Handles {

    private static final MethodHandle ALLOCATE = method(Facade.Allocation.class, "allocate", Object.class, long.class);
    private static final MethodHandle ALLOCATE_TO_SLOT =
            method(Facade.SlotAllocation.class, "allocate", long.class, long.class);
    private static final MethodHandle APPLY = method(ToIntFunction.class, "applyAsInt", Object.class);

    private static final MethodHandle APPLY_TO_LONG = method(LongToIntFunction.class, "applyAsInt", long.class);

    private Handles() {}

    static MethodHandle of(final Facade.Allocation<Object> allocation) {
        return ALLOCATE.bindTo(allocation);
    }

    static MethodHandle ofSlot(final Facade.SlotAllocation allocation) {
        return ALLOCATE_TO_SLOT.bindTo(allocation);
    }

    static MethodHandle of(final ToIntFunction<?> function) {
        return APPLY.bindTo(function);
    }

    static MethodHandle ofLong(final LongToIntFunction function) {
        return APPLY_TO_LONG.bindTo(function);
    }

    private static MethodHandle method(final Class<?> type, final String name, final Class<?>... parameters) {
        try {
            return MethodHandles.lookup().findVirtual(type, name, MethodType.methodType(int.class, parameters));
        } catch (final ReflectiveOperationException e) {
            throw new LinkageError(type + " must have the method " + name, e);
        }
    }

    /** Throws the throwable, of whatever kind, as the binding's function did; returns nothing. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    static <T extends Throwable> RuntimeException thrown(final Throwable thrown) throws T {
        throw (T) thrown;
    }
}
