package io.outboard.bench.kernels.programs;

import io.outboard.cuda.kernels.ObjectField;
import io.outboard.cuda.kernels.ObjectHeapBuilder;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A type describes one kind of a program's objects. Immutable.
 *
 * @param name which names of kernels contain
 * @param most objects of the type at once; the number of each object is less
 * @param comesAndGoes whether objects are made after the first ones
 * @param fields bytes of each field, {@link #ID} for one that names an object
 * @param names of the fields in kernels; none where no kernel has the type
 * @param base the name of the type that it extends, whose fields come first; empty if it extends none
 * @param inherited how many fields are the base's
 */
public record ObjectType(
        String name,
        long most,
        boolean comesAndGoes,
        List<Integer> fields,
        List<String> names,
        String base,
        int inherited) {

    /** The value for a field that names an object: 4 bytes in heaps of objects and arrays, 8 for pointers. */
    public static final int ID = 0;

    /** Returns a type of whose objects none is made after the first ones. */
    public static ObjectType of(final String name, final long most, final Integer... fields) {
        return new ObjectType(name, most, false, List.of(fields), List.of(), "", 0);
    }

    /**
     * Returns a type of whose objects some are made later. Between two lists of the type, each object may end once, and
     * for each a new one may be made.
     */
    public static ObjectType thatComesAndGoes(final String name, final long most, final Integer... fields) {
        return new ObjectType(name, most, true, List.of(fields), List.of(), "", 0);
    }

    /** Returns the type with the names of its fields, as kernels declare them. */
    public ObjectType named(final String... fieldNames) {
        return new ObjectType(name, most, comesAndGoes, fields, List.of(fieldNames), base, inherited);
    }

    /** Returns the type as one that extends another, which has the first fields, and no objects of its own. */
    public ObjectType extending(final String baseName, final int baseFields) {
        return new ObjectType(name, most, comesAndGoes, fields, names, baseName, baseFields);
    }

    /** Declares the type to a heap of objects, after its base if that is none of the known ones yet. */
    void declare(final ObjectHeapBuilder heap, final Set<String> bases) {
        if (base.isEmpty()) {
            heap.type(name, heapFields(0, fields.size()));
            return;
        }
        if (bases.add(base)) {
            heap.abstractType(base, heapFields(0, inherited));
        }
        heap.subtype(name, base, heapFields(inherited, fields.size()));
    }

    private ObjectField[] heapFields(final int from, final int to) {
        final int[] bytes = fieldBytes(Integer.BYTES);
        return IntStream.range(from, to)
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
