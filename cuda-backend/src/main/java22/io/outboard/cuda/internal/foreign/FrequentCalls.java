package io.outboard.cuda.internal.foreign;

import io.outboard.cuda.internal.facade.Binding.Place;
import io.outboard.cuda.internal.facade.Binding.Slots;
import io.outboard.cuda.internal.facade.Facade;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.function.LongToIntFunction;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** Allocations and frees, as a binding makes them, without an object for each call. */
final class FrequentCalls {

    private FrequentCalls() {}

    /** Adapts a function of a pointer, or of an address to write to, and a size. */
    static MethodHandle allocation(
            final Supplier<Facade> facade, final List<Place<Object>> places, final MethodHandle original) {
        if (places.get(0) instanceof final Slots slots && original.type().parameterType(0) == long.class) {
            final MethodHandle call = MethodHandles.explicitCastArguments(
                    original, MethodType.methodType(int.class, long.class, long.class));
            final Facade.SlotAllocation byBinding = (slot, sizeBytes) -> {
                try {
                    return (int) call.invokeExact(slot, sizeBytes);
                } catch (final Throwable e) {
                    throw Handles.thrown(e);
                }
            };
            return Handles.ofSlot((slot, sizeBytes) -> facade.get().allocate(slot, slots, sizeBytes, byBinding));
        }
        // Explicitly, since a program's own binding may take an int.
        final MethodHandle call = MethodHandles.explicitCastArguments(
                original, MethodType.methodType(int.class, Object.class, long.class));
        final Place<Object> place = places.get(0);
        final Facade.Allocation<Object> byBinding = (pointer, sizeBytes) -> {
            try {
                return (int) call.invokeExact(pointer, sizeBytes);
            } catch (final Throwable e) {
                throw Handles.thrown(e);
            }
        };
        return Handles.of((Facade.Allocation<Object>)
                (pointer, sizeBytes) -> facade.get().allocate(pointer, place, sizeBytes, byBinding));
    }

    /** Adapts a function of a pointer, or of an address. */
    static MethodHandle free(
            final Supplier<Facade> facade, final List<Place<Object>> places, final MethodHandle original) {
        if (original.type().parameterType(0) == long.class) {
            final LongToIntFunction byBinding = address -> {
                try {
                    return (int) original.invokeExact(address);
                } catch (final Throwable e) {
                    throw Handles.thrown(e);
                }
            };
            return Handles.ofLong(address -> facade.get().free(address, byBinding));
        }
        final MethodHandle call = original.asType(MethodType.methodType(int.class, Object.class));
        final Place<Object> place = places.get(0);
        final ToIntFunction<Object> byBinding = pointer -> {
            try {
                return (int) call.invokeExact(pointer);
            } catch (final Throwable e) {
                throw Handles.thrown(e);
            }
        };
        return Handles.of((ToIntFunction<Object>) pointer -> facade.get().free(pointer, place, byBinding));
    }
}
