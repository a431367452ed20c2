package io.outboard.tlsf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A buddy tree is a buddy system by its definition, with an object for each node and no tables. It says where {@link
 * BuddyStrategy} must put a block. Starts and sizes count granules. {@code -1} is no place.
 */
final class BuddyTree {

    private final List<Long> sizes = new ArrayList<>(List.of(1L));
    private final List<Node> roots = new ArrayList<>();
    private long clock;

    BuddyTree(final boolean fibonacci, final long granules) {
        long summand = 1;
        while (sizes.get(sizes.size() - 1) < granules) {
            final long last = sizes.get(sizes.size() - 1);
            sizes.add(last + (fibonacci ? summand : last));
            summand = last;
        }
        for (long start = 0; start < granules; ) {
            final Node root = new Node(null, start, largest(granules - start + 1));
            roots.add(root);
            start += root.size;
        }
    }

    /** Returns the smallest size of a block that holds {@code size}, which the region must have. */
    long blockSize(final long size) {
        return sizes.stream().filter(block -> block >= size).findFirst().orElseThrow();
    }

    /** Returns the largest size of a block below this size, which is also the size of the left part. */
    private long largest(final long below) {
        return sizes.stream()
                .filter(block -> block < below)
                .reduce((one, other) -> other)
                .orElseThrow();
    }

    /**
     * Takes the smallest free block that suffices; of equal ones, that which was freed last. Splits it down to the
     * smallest part that suffices.
     */
    long allocate(final long wanted) {
        final Node block = blocks().filter(node -> !node.used && node.size >= wanted)
                .min(Comparator.<Node>comparingLong(node -> node.size).thenComparing(node -> -node.freed))
                .orElse(null);
        if (block == null) {
            return -1;
        }
        Node part = block;
        while (part.size > wanted) {
            final long left = largest(part.size);
            final long right = part.size - left;
            part = right < left && right >= wanted ? splitKeeping(part, 1) : splitKeeping(part, 0);
        }
        part.used = true;
        return part.start;
    }

    /** Takes the part with the given start and size if the part is free. */
    boolean take(final long start, final long wanted) {
        if (!canTake(start, wanted)) {
            return false;
        }
        Node part = holding(start);
        while (part.size > wanted) {
            part = splitKeeping(part, start < part.start + largest(part.size) ? 0 : 1);
        }
        part.used = true;
        return true;
    }

    boolean canTake(final long start, final long wanted) {
        final Node block = holding(start);
        long partStart = block.start;
        long part = block.size;
        while (part > wanted) {
            final long left = largest(part);
            if (start < partStart + left) {
                part = left;
            } else {
                partStart += left;
                part -= left;
            }
        }
        return !block.used && partStart == start && part == wanted;
    }

    void free(final long start) {
        Node block = holding(start);
        block.used = false;
        while (block.parent != null && block.parent.parts.stream().allMatch(Node::isFreeBlock)) {
            block = block.parent;
            block.parts.clear();
        }
        block.freed = ++clock;
    }

    void trim(final long start, final long wanted) {
        Node part = holding(start);
        part.used = false;
        while (part.size > wanted) {
            part = splitKeeping(part, 0);
        }
        part.used = true;
    }

    boolean extend(final long start, final long wanted) {
        final Node block = holding(start);
        Node whole = block;
        while (whole.size < wanted) {
            final Node parent = whole.parent;
            if (parent == null || parent.start != start || !parent.parts.get(1).isFreeBlock()) {
                return false;
            }
            whole = parent;
        }
        if (whole != block) {
            whole.parts.clear();
            whole.used = true;
        }
        return true;
    }

    /** Returns all leaves, in order of their starts. */
    Stream<Node> blocks() {
        return roots.stream().flatMap(Node::leaves);
    }

    List<Node> used() {
        return blocks().filter(node -> node.used).toList();
    }

    private Node holding(final long start) {
        return blocks().filter(node -> node.start <= start && start < node.start + node.size)
                .findFirst()
                .orElseThrow();
    }

    private Node splitKeeping(final Node block, final int kept) {
        final long left = largest(block.size);
        block.parts.add(new Node(block, block.start, left));
        block.parts.add(new Node(block, block.start + left, block.size - left));
        block.parts.get(1 - kept).freed = ++clock;
        return block.parts.get(kept);
    }

    /** A node is a block if it has no parts, otherwise what two blocks were split from. */
    static final class Node {

        final @Nullable Node parent;
        final long start;
        final long size;
        final List<Node> parts = new ArrayList<>(2);
        boolean used;
        long freed;

        Node(final @Nullable Node parent, final long start, final long size) {
            this.parent = parent;
            this.start = start;
            this.size = size;
        }

        boolean isFreeBlock() {
            return parts.isEmpty() && !used;
        }

        Stream<Node> leaves() {
            return parts.isEmpty() ? Stream.of(this) : parts.stream().flatMap(Node::leaves);
        }

        @Override
        public String toString() {
            return start + "+" + size + (used ? " used" : " free");
        }
    }
}
