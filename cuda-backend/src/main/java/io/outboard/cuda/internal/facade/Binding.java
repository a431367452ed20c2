package io.outboard.cuda.internal.facade;

import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** A binding has CUDA's functions for Java: what one does in its own way, and a facade over it must do alike. */
public interface Binding {

    /** Makes a call of the binding, and answers CUDA's code, whether the binding throws errors or not. */
    default int ask(final IntSupplier call) {
        return call.getAsInt();
    }

    /** Ends a facade's call as the binding ends its own: returns the code, or throws if that is an error. */
    default int result(final int code) {
        return code;
    }

    /**
     * A place for a number in a binding's objects, such as a device address in a pointer.
     *
     * @param <P> type of the objects
     */
    interface Place<P> {

        /**
         * Answers whether a number can be set; if not, the binding or CUDA says what is wrong. May throw, before anything
         * has happened.
         */
        default boolean takes(final P object) {
            return true;
        }

        /** Answers the number; 0 for null. */
        long get(@Nullable P object);

        void set(P object, long value);
    }

    /** The places of 8 bytes of native memory, whose addresses needn't be in objects. */
    interface Slots extends Place<Object> {

        /** Sets the number at an address that isn't 0. */
        void setAt(long address, long value);
    }
}
