package io.outboard.bench.kernels;

import io.outboard.cuda.kernels.DeviceAllocator;
import io.outboard.cuda.kernels.internal.DevicePtx;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What the bench's kernels were compiled with: an allocator, with or without warp coalescing; or none, to see what a
 * kernel takes by itself. Immutable.
 *
 * @param name the paper's name of the allocator, or {@link #EMPTY}
 * @param coalesced whether one claim serves a warp
 * @param linked whether the kernels call functions that they were linked with, and have nothing of the allocator
 *     inlined
 */
public record Contender(String name, boolean coalesced, boolean linked) {

    /** The name of no allocator at all. */
    public static final String EMPTY = "Empty";

    private static final String COALESCED = " coalesced";
    private static final String LINKED = " linked";

    /** In names of resources, in the place of an allocator. */
    private static final String ANY = "Linked";

    /**
     * One whose allocator was compiled into the kernels.
     *
     * @param name the paper's name of the allocator, or {@link #EMPTY}
     * @param coalesced whether one claim serves a warp
     */
    public Contender(final String name, final boolean coalesced) {
        this(name, coalesced, false);
    }

    /** The best of the paper's family, which others are compared with. */
    private static final String FAMILY = "CFMMalloc";

    /** The allocator that heaps have by default, as soon as there is it: else that of the family. */
    private static final String NEWEST = "BitMalloc";

    /** No allocator at all. */
    static Contender empty() {
        return new Contender(EMPTY, false);
    }

    /**
     * Every name that there is: none, then the allocators.
     *
     * @return names in the order of tables
     */
    public static List<String> names() {
        final List<String> names = new ArrayList<>(List.of(EMPTY));
        Arrays.stream(DeviceAllocator.values()).map(DeviceAllocator::paperName).forEach(names::add);
        return names;
    }

    /**
     * Whether it is one by which the project is judged: the newest allocator in every form, the best of the paper's
     * family, coalesced, and none, to see what the kernels take by themselves.
     *
     * @return whether it is one of these
     */
    boolean isMain() {
        final String newest = names().contains(NEWEST) ? NEWEST : FAMILY;
        return isEmpty() || name.equals(newest) || (name.equals(FAMILY) && coalesced);
    }

    /**
     * How tables name it.
     *
     * @return for example {@code CFMMalloc coalesced}
     */
    public String label() {
        return name + (coalesced ? COALESCED : "") + (linked ? LINKED : "");
    }

    /** The allocator; nothing if there is none. */
    Optional<DeviceAllocator> allocator() {
        return name.equals(EMPTY) ? Optional.empty() : Optional.of(DeviceAllocator.named(name));
    }

    /** Whether it is none. */
    boolean isEmpty() {
        return allocator().isEmpty();
    }

    /** Whether it hands out memory that is in use when it has no other: then it never fails. */
    boolean overwrites() {
        return allocator().filter(DeviceAllocator.AW_MALLOC::equals).isPresent();
    }

    /** Whether it is CUDA's own. */
    boolean isCuda() {
        return allocator().filter(DeviceAllocator.CUDA_MALLOC::equals).isPresent();
    }

    /** Whether its heap is a list of chunks, which statistics can be read from. */
    boolean hasChunks() {
        return allocator().filter(DeviceAllocator::canFree).isPresent() && !isCuda();
    }

    /** Whether what it hands out must lie in the heap that it was given. */
    boolean hasBounds() {
        return !isEmpty() && !isCuda();
    }

    /** Whether memory that is freed can be had again, or none is ever taken. */
    boolean canFree() {
        return allocator().map(DeviceAllocator::canFree).orElse(true);
    }

    /** The resource beside this class that holds its kernels as PTX, packed. */
    String resource() {
        return "kernels-" + (linked ? ANY : DevicePtx.of(name, coalesced, false).name()) + ".ptx.gz";
    }
}
