package io.outboard.bench.kernels.programs;

import java.util.List;
import java.util.stream.IntStream;

/**
 * A type describes one kind of a program's objects. Immutable.
 *
 * @param name which names of kernels contain
 * @param capacity most objects of the type at once, plus those that end or are made between two listings of the type's
 *     blocks
 * @param fields bytes of each field, {@link #ID} for one that names an object
 */
public record ObjectType(String name, long capacity, List<Integer> fields) {

    /** The value for a field that names an object: 4 bytes in heaps of objects and arrays, 8 for pointers. */
    public static final int ID = 0;

    public static ObjectType of(final String name, final long capacity, final Integer... fields) {
        return new ObjectType(name, capacity, List.of(fields));
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
