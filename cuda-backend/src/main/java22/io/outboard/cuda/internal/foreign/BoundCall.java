package io.outboard.cuda.internal.foreign;

import io.outboard.cuda.internal.facade.Binding.Place;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A call of a binding's function, with the binding's own objects. Where a facade passes the call on, it is made as the
 * program made it. Confined to one thread.
 */
final class BoundCall implements IntSupplier {

    private final List<Place<Object>> places;
    private final MethodHandle original;
    private final @Nullable Object[] arguments;

    /** The original takes an array of all arguments. */
    private BoundCall(
            final List<Place<Object>> places, final MethodHandle original, final @Nullable Object[] arguments) {
        this.places = places;
        this.original = original;
        this.arguments = arguments;
    }

    /** Adapts a binding's function to an action of the same type. */
    static MethodHandle adapt(
            final ToIntFunction<BoundCall> action, final List<Place<Object>> places, final MethodHandle original) {
        final MethodType type = original.type();
        final MethodHandle spread = original.asType(type.generic().changeReturnType(int.class))
                .asSpreader(Object[].class, type.parameterCount());
        final ToIntFunction<Object[]> adapted =
                arguments -> action.applyAsInt(new BoundCall(places, spread, arguments));
        return Handles.of(adapted)
                .asType(MethodType.methodType(int.class, Object[].class))
                .asCollector(Object[].class, type.parameterCount());
    }

    /** Answers a number, a handle or an address. */
    long get(final int parameter) {
        return places.get(parameter).get(arguments[parameter]);
    }

    /** Makes the call. */
    @Override
    public int getAsInt() {
        try {
            return (int) original.invokeExact(arguments);
        } catch (final Throwable e) {
            throw Handles.thrown(e);
        }
    }

    /** A parameter: a number, or a place of 8 bytes into which the function writes its result. */
    record Parameter(int parameter) implements Place<BoundCall> {

        @Override
        public boolean takes(final BoundCall call) {
            final Object argument = call.arguments[parameter];
            return argument != null && call.places.get(parameter).takes(argument);
        }

        @Override
        public long get(final @Nullable BoundCall call) {
            return call == null ? 0 : call.get(parameter);
        }

        @Override
        @SuppressWarnings("NullAway") // Only what is taken is set.
        public void set(final BoundCall call, final long value) {
            call.places.get(parameter).set(call.arguments[parameter], value);
        }
    }

    /** A member, of 8 bytes, of a structure in native memory to which a parameter points. */
    record Member(int parameter, long offset) implements Place<BoundCall> {

        @Override
        public boolean takes(final BoundCall call) {
            return call.get(parameter) != 0;
        }

        @Override
        public long get(final @Nullable BoundCall call) {
            return call != null && takes(call) ? NativeMemory.get(call.get(parameter) + offset) : 0;
        }

        @Override
        public void set(final BoundCall call, final long value) {
            NativeMemory.set(call.get(parameter) + offset, value);
        }
    }
}
