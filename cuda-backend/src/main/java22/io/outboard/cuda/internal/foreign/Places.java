package io.outboard.cuda.internal.foreign;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.outboard.cuda.internal.facade.Binding.Place;
import io.outboard.cuda.internal.facade.Binding.Slots;
import io.outboard.cuda.internal.memory.StreamCaptures;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds how a parameter's number is read, or where its result is written, by the parameter's type in a binding: a long,
 * an array, a buffer, a memory segment, or a pointer of JavaCPP. No class of a binding is needed to compile this class.
 *
 * <p>JavaCPP adds a pointer's position to its address, in elements of the parameter's type, and takes it off again from
 * an address that it sets. Of a buffer it takes the element at the position.
 */
final class Places {

    private static final String JAVACPP = "org.bytedeco.javacpp.";

    /** Pointers to 8 bytes into which CUDA writes a pointer or a number. */
    private static final Set<String> SLOTS =
            Set.of(JAVACPP + "PointerPointer", JAVACPP + "LongPointer", JAVACPP + "SizeTPointer");

    private Places() {}

    /** Answers the place of a parameter of a kind ({@link CudaFunction#parameters}); null if the type has none. */
    static @Nullable Place<Object> of(final char kind, final Class<?> type) throws ReflectiveOperationException {
        return switch (kind) {
            case 'r' -> ofResult(type);
            case 'v', 's' -> ofValue(type);
            case 'n' -> isNumber(type) ? new Value() : null;
            default -> new Value();
        };
    }

    private static boolean isNumber(final Class<?> type) {
        return type == long.class || type == int.class;
    }

    private static @Nullable Place<Object> ofValue(final Class<?> type) throws ReflectiveOperationException {
        if (isNumber(type)) {
            return new Value();
        }
        if (type == MemorySegment.class) {
            return new SegmentAddress();
        }
        final Class<?> pointer = javaCppPointer(type);
        return pointer == null ? null : JavaCppAddress.of(pointer, type);
    }

    private static @Nullable Place<Object> ofResult(final Class<?> type) throws ReflectiveOperationException {
        if (type == long.class) {
            return new Slot(new Value());
        }
        if (type == long[].class) {
            return new Element();
        }
        if (type == LongBuffer.class) {
            return new BufferElement();
        }
        if (type == MemorySegment.class) {
            return new Segment();
        }
        final Class<?> pointer = javaCppPointer(type);
        if (pointer == null) {
            return null;
        }
        final JavaCppAddress address = JavaCppAddress.of(pointer, type);
        if (SLOTS.contains(type.getName())) {
            return new Slot(address);
        }
        // Any other pointer is the result itself, unless it is to numbers of which CUDA writes none.
        return type == pointer || !type.getName().startsWith(JAVACPP) ? address : null;
    }

    private static @Nullable Class<?> javaCppPointer(final Class<?> type) {
        Class<?> pointer = type;
        while (pointer != null && !pointer.getName().equals(JAVACPP + "Pointer")) {
            pointer = pointer.getSuperclass();
        }
        return pointer;
    }

    /** A stream, of which 0 is the thread's own default stream, and not the one of all threads. */
    record StreamOfThread(Place<Object> stream) implements Place<Object> {

        @Override
        public long get(final @Nullable Object object) {
            final long handle = stream.get(object);
            return handle == 0 ? StreamCaptures.PER_THREAD_STREAM : handle;
        }

        @Override
        public void set(final Object object, final long value) {
            throw new UnsupportedOperationException("a stream can't be set");
        }
    }

    /** A number that is passed by value. */
    private record Value() implements Place<Object> {

        @Override
        public long get(final @Nullable Object object) {
            return object == null ? 0 : ((Number) object).longValue();
        }

        @Override
        public void set(final Object object, final long value) {
            throw new UnsupportedOperationException("a value can't be set");
        }
    }

    /** 8 bytes of native memory, at an address. */
    private record Slot(Place<Object> address) implements Slots {

        @Override
        public boolean takes(final Object object) {
            return address.get(object) != 0;
        }

        @Override
        public long get(final @Nullable Object object) {
            return object != null && takes(object) ? NativeMemory.get(address.get(object)) : 0;
        }

        @Override
        public void set(final Object object, final long value) {
            setAt(address.get(object), value);
        }

        @Override
        public void setAt(final long slot, final long value) {
            NativeMemory.set(slot, value);
        }
    }

    private record Element() implements Place<Object> {

        @Override
        public boolean takes(final Object object) {
            return ((long[]) object).length > 0;
        }

        @Override
        public long get(final @Nullable Object object) {
            return object instanceof final long[] array && array.length > 0 ? array[0] : 0;
        }

        @Override
        public void set(final Object object, final long value) {
            ((long[]) object)[0] = value;
        }
    }

    private record BufferElement() implements Place<Object> {

        @Override
        public boolean takes(final Object object) {
            return object instanceof final LongBuffer buffer && !buffer.isReadOnly() && buffer.hasRemaining();
        }

        @Override
        public long get(final @Nullable Object object) {
            return object instanceof final LongBuffer buffer && takes(object)
                    ? inOrder(buffer, buffer.get(buffer.position()))
                    : 0;
        }

        @Override
        public void set(final Object object, final long value) {
            final LongBuffer buffer = (LongBuffer) object;
            buffer.put(buffer.position(), inOrder(buffer, value));
        }

        /** The functions write in the order of the machine. */
        private static long inOrder(final LongBuffer buffer, final long value) {
            return buffer.order() == ByteOrder.nativeOrder() ? value : Long.reverseBytes(value);
        }
    }

    /** The address of a segment, which is passed by value. */
    private record SegmentAddress() implements Place<Object> {

        @Override
        public long get(final @Nullable Object object) {
            return object instanceof final MemorySegment segment && segment.isNative() ? segment.address() : 0;
        }

        @Override
        public void set(final Object object, final long value) {
            throw new UnsupportedOperationException("a value can't be set");
        }
    }

    /**
     * The first 8 bytes of a segment. A segment of size 0 has an address alone. One that is too small, closed or of
     * another thread is refused before anything is allocated; one in the heap is refused by the linker.
     */
    private record Segment() implements Place<Object> {

        @Override
        public boolean takes(final Object object) {
            if (object instanceof final MemorySegment segment
                    && segment.isNative()
                    && !segment.isReadOnly()
                    && segment.address() != 0) {
                slot(segment).get(JAVA_LONG_UNALIGNED, 0);
                return true;
            }
            return false;
        }

        @Override
        public long get(final @Nullable Object object) {
            return object instanceof final MemorySegment segment && takes(object)
                    ? slot(segment).get(JAVA_LONG_UNALIGNED, 0)
                    : 0;
        }

        @Override
        public void set(final Object object, final long value) {
            slot((MemorySegment) object).set(JAVA_LONG_UNALIGNED, 0, value);
        }

        @SuppressWarnings("restricted")
        private static MemorySegment slot(final MemorySegment segment) {
            return segment.byteSize() == 0 ? segment.reinterpret(Long.BYTES) : segment;
        }
    }

    /** Where a pointer of JavaCPP points. */
    private record JavaCppAddress(
            MethodHandle address,
            MethodHandle position,
            @Nullable MethodHandle sizeof,
            VarHandle field) implements Place<Object> {

        static JavaCppAddress of(final Class<?> pointer, final Class<?> type) throws ReflectiveOperationException {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            final MethodType number = MethodType.methodType(long.class, Object.class);
            return new JavaCppAddress(
                    lookup.findVirtual(pointer, "address", MethodType.methodType(long.class))
                            .asType(number),
                    lookup.findVirtual(pointer, "position", MethodType.methodType(long.class))
                            .asType(number),
                    // What has no type has bytes.
                    type == pointer
                            ? null
                            : lookup.findVirtual(pointer, "sizeof", MethodType.methodType(int.class))
                                    .asType(MethodType.methodType(int.class, Object.class)),
                    MethodHandles.privateLookupIn(pointer, lookup).findVarHandle(pointer, "address", long.class));
        }

        @Override
        public long get(final @Nullable Object object) {
            if (object == null) {
                return 0;
            }
            try {
                return (long) address.invokeExact(object) + positionBytes(object);
            } catch (final Throwable e) {
                throw Handles.thrown(e);
            }
        }

        @Override
        public void set(final Object object, final long value) {
            try {
                field.set(object, value - positionBytes(object));
            } catch (final Throwable e) {
                throw Handles.thrown(e);
            }
        }

        private long positionBytes(final Object object) throws Throwable {
            final long elements = (long) position.invokeExact(object);
            return elements == 0 || sizeof == null ? elements : elements * (int) sizeof.invokeExact(object);
        }
    }
}
