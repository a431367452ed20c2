package io.outboard.bench.kernels.programs;

import io.outboard.cuda.kernels.ObjectField;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A type describes one kind of a program's objects. Immutable.
 *
 * @param name which names of kernels contain
 * @param most objects of the type at once; the number of each object is less
 * @param comesAndGoes whether objects are made after the first ones
 * @param fields bytes of each field, {@link #ID} for one that names an object
 * @param names of the fields in kernels; none where no kernel has the type
 */
public record ObjectType(String name, long most, boolean comesAndGoes, List<Integer> fields, List<String> names) {

    /** The value for a field that names an object: 4 bytes in heaps of objects and arrays, 8 for pointers. */
    public static final int ID = 0;

    /** Returns a type of whose objects none is made after the first ones. */
    public static ObjectType of(final String name, final long most, final Integer... fields) {
        return new ObjectType(name, most, false, List.of(fields), List.of());
    }

    /**
     * Returns a type of whose objects some are made later. Between two lists of the type, each object may end once, and
     * for each a new one may be made.
     */
    public static ObjectType thatComesAndGoes(final String name, final long most, final Integer... fields) {
        return new ObjectType(name, most, true, List.of(fields), List.of());
    }

    /** Returns the type with the names of its fields, as kernels declare them. */
    public ObjectType named(final String... fieldNames) {
        return new ObjectType(name, most, comesAndGoes, fields, List.of(fieldNames));
    }

    /** Returns the fields in a heap of objects. */
    ObjectField[] heapFields() {
        final int[] bytes = fieldBytes(Integer.BYTES);
        return IntStream.range(0, bytes.length)
                .mapToObj(i -> ObjectField.field(names.get(i), bytes[i]))
                .toArray(ObjectField[]::new);
    }

    /** Returns how many objects of the type there may be at once, with those that have ended since the last list. */
    public long mostListed() {
        return comesAndGoes ? 2 * most : most;
    }

    /** Returns the bytes of each field, if a name of an object has {@code idBytes}. */
    int[] fieldBytes(final int idBytes) {
        return fields.stream().mapToInt(bytes -> bytes == ID ? idBytes : bytes).toArray();
    }

    /** Returns the bytes of all fields together. */
    int objectBytes(final int idBytes) {
        return IntStream.of(fieldBytes(idBytes)).sum();
    }

    /**
     * Returns the bytes of a structure with all fields in their order, each aligned to its size ({@code Structure} in
     * {@code stores.cuh}).
     *
     * @param headBytes of what lies before the fields, 0 or 4
     * @param idBytes of a name of an object
     */
    public int structureBytes(final int headBytes, final int idBytes) {
        int end = headBytes;
        int widest = Integer.BYTES;
        for (final int bytes : fieldBytes(idBytes)) {
            end = (end + bytes - 1) / bytes * bytes + bytes;
            widest = Math.max(widest, bytes);
        }
        return (end + widest - 1) / widest * widest;
    }
}
