package io.outboard.cuda.kernels;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A layout says how the types of an {@link ObjectHeap} lie in its blocks, as {@code object_layout.cuh} computes for
 * kernels. Immutable.
 *
 * @param names of the types, in their order
 * @param blockBytes size of a block, in bytes
 * @param slots objects of a block, for each type
 * @param number differs between heaps of other fields
 */
record ObjectLayout(List<String> names, int blockBytes, List<Integer> slots, long number) {

    /** The number of bytes of the structure {@code outboard::ObjectPlan}. */
    private static final int PLAN_BYTES = 80;

    private static final int PLAN_SLOTS_AT = 16;
    private static final int MOST_SLOTS = 64;
    private static final int ARRAY_ALIGNMENT = 32;
    private static final int BLOCK_ALIGNMENT = 128;
    private static final long FNV_OFFSET = 0xCBF29CE484222325L;
    private static final long FNV_PRIME = 0x100000001B3L;

    /** Lays out types, each of which has fields of these sizes, in bytes. */
    static ObjectLayout of(final Map<String, int[]> types) {
        final int full = types.values().stream()
                .mapToInt(sizes -> bytesOf(sizes, MOST_SLOTS))
                .min()
                .orElseThrow();
        final int one = types.values().stream()
                .mapToInt(sizes -> bytesOf(sizes, 1))
                .max()
                .orElseThrow();
        final int blockBytes = roundedUp(Math.max(full, one), BLOCK_ALIGNMENT);
        final List<Integer> slots = new ArrayList<>();
        long number = FNV_OFFSET;
        number = hashed(number, types.size());
        for (final int[] sizes : types.values()) {
            slots.add(slotsIn(sizes, blockBytes));
            number = hashed(number, sizes.length);
            for (final int size : sizes) {
                number = hashed(number, size);
            }
        }
        return new ObjectLayout(List.copyOf(types.keySet()), blockBytes, List.copyOf(slots), number);
    }

    /** Makes the plan for the kernel that formats a heap. */
    ByteBuffer plan() {
        final ByteBuffer plan = ByteBuffer.allocateDirect(PLAN_BYTES).order(ByteOrder.nativeOrder());
        plan.putLong(0, number).putInt(8, names.size()).putInt(12, blockBytes);
        for (int i = 0; i < slots.size(); i++) {
            plan.putInt(PLAN_SLOTS_AT + Integer.BYTES * i, slots.get(i));
        }
        return plan;
    }

    int indexOf(final String type) {
        final int index = names.indexOf(type);
        if (index < 0) {
            throw new IllegalArgumentException("type=" + type + " must be one of " + names);
        }
        return index;
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

    private static long hashed(final long hash, final int value) {
        return (hash ^ Integer.toUnsignedLong(value)) * FNV_PRIME;
    }
}
