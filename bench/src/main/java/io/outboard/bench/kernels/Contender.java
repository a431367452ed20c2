package io.outboard.bench.kernels;

import io.outboard.cuda.DeviceAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What the bench's kernels were compiled with: an allocator, with or without warp coalescing; or none, to see what a kernel
 * takes by itself. Immutable.
 *
 * @param name the paper's name of the allocator, or {@link #EMPTY}
 * @param coalesced whether one claim serves a warp
 */
public record Contender(String name, boolean coalesced) {

    /** The name of no allocator at all. */
    public static final String EMPTY = "Empty";

    private static final String COALESCED = " coalesced";

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
     * How tables name it.
     *
     * @return for example {@code CFMMalloc coalesced}
     */
    public String label() {
        return coalesced ? name + COALESCED : name;
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
        return "kernels-" + name + (coalesced ? "-coalesced" : "") + ".ptx.gz";
    }
}
