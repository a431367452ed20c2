package io.outboard.cuda.kernels;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A layout says how the types of an {@link ObjectHeap} lie in its blocks, as {@code object_layout.cuh} computes for
 * kernels. Immutable.
 *
 * @param declared all types, those without objects among them
 * @param types those that have objects, in their order
 * @param blockBytes size of a block, in bytes
 * @param slots objects of a block, for each type
 * @param number differs between heaps of other types
 */
record ObjectLayout(
        List<DeclaredType> declared, List<DeclaredType> types, int blockBytes, List<Integer> slots, long number) {

    /** The number of bytes of the structure {@code outboard::ObjectPlan}. */
    private static final int PLAN_BYTES = 88;

    private static final int PLAN_SLOTS_AT = 16;
    private static final int PLAN_ORDER_AT = 80;
    private static final int MOST_SLOTS = 64;
    private static final int ARRAY_ALIGNMENT = 32;
    private static final int BLOCK_ALIGNMENT = 128;
    private static final long FNV_OFFSET = 0xCBF29CE484222325L;
    private static final long FNV_PRIME = 0x100000001B3L;

    /** Lays out types, of which one at least has objects. */
    static ObjectLayout of(final Collection<DeclaredType> declared) {
        final List<DeclaredType> types =
                declared.stream().filter(type -> !type.isAbstract()).toList();
        final int full = types.stream()
                .mapToInt(type -> bytesOf(type.fieldBytes(), MOST_SLOTS))
                .min()
                .orElseThrow();
        final int one = types.stream()
                .mapToInt(type -> bytesOf(type.fieldBytes(), 1))
                .max()
                .orElseThrow();
        final int blockBytes = roundedUp(Math.max(full, one), BLOCK_ALIGNMENT);
        final List<Integer> slots = types.stream()
                .map(type -> slotsIn(type.fieldBytes(), blockBytes))
                .toList();
        return new ObjectLayout(List.copyOf(declared), types, blockBytes, slots, numberOf(types));
    }

    /** Answers the number of the same types in kernels: FNV-1a over what {@code object_layout.cuh} says. */
    private static long numberOf(final List<DeclaredType> types) {
        final List<Integer> values = new ArrayList<>(List.of(types.size()));
        for (final DeclaredType type : types) {
            values.add(type.levels().size());
            for (final DeclaredType level : type.levels()) {
                values.add(IntStream.range(0, types.size())
                        .filter(i -> types.get(i).derivesFrom(level))
                        .findFirst()
                        .orElseThrow());
                values.add(level.ownBytes().size());
                values.addAll(level.ownBytes());
                level.ownNames().forEach(name -> (name + " ").chars().forEach(values::add));
            }
        }
        long number = FNV_OFFSET;
        for (final int value : values) {
            number = (number ^ Integer.toUnsignedLong(value)) * FNV_PRIME;
        }
        return number;
    }

    /** Makes the plan for the kernel that formats a heap. */
    ByteBuffer plan(final MakeOrder order) {
        final ByteBuffer plan = ByteBuffer.allocateDirect(PLAN_BYTES).order(ByteOrder.nativeOrder());
        plan.putLong(0, number).putInt(8, types.size()).putInt(12, blockBytes).putInt(PLAN_ORDER_AT, order.number);
        for (int i = 0; i < slots.size(); i++) {
            plan.putInt(PLAN_SLOTS_AT + Integer.BYTES * i, slots.get(i));
        }
        return plan;
    }

    /** Answers a bit for each type with objects that is the named one or derives from it. */
    int typesOf(final String name) {
        final DeclaredType wanted = declared.stream()
                .filter(type -> type.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("type=" + name + " must be one of " + names(declared)));
        return IntStream.range(0, types.size())
                .filter(i -> types.get(i).derivesFrom(wanted))
                .map(i -> 1 << i)
                .sum();
    }

    /** Answers the index of a type that has objects. */
    int indexOf(final String name) {
        final int index = names(types).indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException("type=" + name + " must be one of " + names(types));
        }
        return index;
    }

    /** Answers the number of a field of a type, with those of its base before its own. */
    int fieldOf(final int type, final String name) {
        final List<String> names = types.get(type).fieldNames();
        final int field = names.indexOf(name);
        if (field < 0) {
            throw new IllegalArgumentException("field=" + name + " must be one of " + names);
        }
        return field;
    }

    /** Answers where the array of a field begins in a block of its type. */
    int offsetOf(final int type, final int field) {
        return bytesOf(Arrays.copyOf(types.get(type).fieldBytes(), field), slots.get(type));
    }

    private static List<String> names(final List<DeclaredType> types) {
        return types.stream().map(DeclaredType::name).toList();
    }

    private static int slotsIn(final int[] sizes, final int blockBytes) {
        int slots = MOST_SLOTS;
        while (bytesOf(sizes, slots) > blockBytes) {
            slots--;
        }
        return slots;
    }

    private static int bytesOf(final int[] sizes, final int slots) {
        int bytes = 0;
        for (final int size : sizes) {
            bytes += roundedUp(size * slots, ARRAY_ALIGNMENT);
        }
        return bytes;
    }

    private static int roundedUp(final int bytes, final int alignment) {
        return (bytes + alignment - 1) & -alignment;
    }
}
