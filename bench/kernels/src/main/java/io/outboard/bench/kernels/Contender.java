package io.outboard.bench.kernels;

import io.outboard.cuda.kernels.DeviceAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A contender is what the bench's kernels were compiled with: an allocator, with or without warp coalescing; or none,
 * which shows what a kernel takes by itself. Immutable.
 *
 * @param name the paper's name of the allocator, or {@link #EMPTY}
 * @param coalesced whether one claim serves a warp
 * @param linked whether the kernels call functions that they were linked with, and have nothing of the allocator
 *     inlined
 */
public record Contender(String name, boolean coalesced, boolean linked) {

    /** The name that stands for no allocator. */
    public static final String EMPTY = "Empty";

    private static final String COALESCED = " coalesced";
    private static final String LINKED = " linked";

    private static final String FDG = "FDGMalloc";
    private static final String ARENA = "WarpArena";

    /**
     * What the paper measures or tried besides, by name, with the allocator whose heap it uses: FDGMalloc, which is our
     * {@code WarpArena} with chunks from CUDA's malloc, and the same over our default allocator ({@code
     * arena_malloc.cuh} says what becomes of frees); and the lists of section 5.2 with links both ways.
     */
    private static final Map<String, DeviceAllocator> VARIANTS = Map.of(
            "DoubleCFMMalloc",
            DeviceAllocator.CFM_MALLOC,
            "DoubleCMalloc",
            DeviceAllocator.C_MALLOC,
            FDG,
            DeviceAllocator.CUDA_MALLOC,
            ARENA,
            DeviceAllocator.BIT_MALLOC);

    /**
     * Published allocators that the paper measures, each with its name in the programs that {@code bench/peers.sh}
     * compiles from their authors' sources.
     */
    private static final Map<String, String> PEERS = Map.of("ScatterAlloc", "mallocMC", "Halloc", "Halloc");

    /** The word in the names of resources that takes the place of an allocator's name. */
    private static final String ANY = "Linked";

    /**
     * Makes a contender whose allocator was compiled into the kernels.
     *
     * @param name the paper's name of the allocator, or {@link #EMPTY}
     * @param coalesced whether one claim serves a warp
     */
    public Contender(final String name, final boolean coalesced) {
        this(name, coalesced, false);
    }

    /** The best allocator of the paper's family, with which others are compared. */
    private static final String FAMILY = "CFMMalloc";

    /** The default allocator of heaps. */
    private static final String NEWEST = "BitMalloc";

    /** Those that join the requests of a warp anyway, so that their coalesced code is the same. */
    private static final Set<String> JOINING = Set.of(NEWEST, DeviceAllocator.XMALLOC.paperName());

    /** Returns the contender without an allocator. */
    static Contender empty() {
        return new Contender(EMPTY, false);
    }

    /**
     * Returns the names of all contenders: that without an allocator, then the allocators; without {@link #peers}.
     *
     * @return names in the order of tables
     */
    public static List<String> names() {
        final List<String> names = new ArrayList<>(List.of(EMPTY));
        Arrays.stream(DeviceAllocator.values()).map(DeviceAllocator::paperName).forEach(names::add);
        VARIANTS.keySet().stream().sorted().forEach(names::add);
        return names;
    }

    /**
     * Returns published allocators, where they were compiled.
     *
     * @return contenders for which {@link #isPeer}
     */
    public static List<Contender> peers() {
        return PEERS.keySet().stream()
                .sorted()
                .map(name -> new Contender(name, false))
                .filter(peer -> Contender.class.getResource(peer.resource()) != null)
                .toList();
    }

    /**
     * Returns whether the project is judged by this contender: the newest allocator in every form, the best of the
     * paper's family, coalesced, and kernels without an allocator, for comparison.
     *
     * @return whether it is one of these
     */
    boolean isMain() {
        final String newest = names().contains(NEWEST) ? NEWEST : FAMILY;
        return isEmpty() || name.equals(newest) || (name.equals(FAMILY) && coalesced);
    }

    /**
     * Returns the name in tables.
     *
     * @return for example {@code CFMMalloc coalesced}
     */
    public String label() {
        return name + (coalesced ? COALESCED : "") + (linked ? LINKED : "");
    }

    /** Returns the allocator whose heap is used; empty if there is none, or it is a peer's own. */
    Optional<DeviceAllocator> allocator() {
        if (isEmpty() || isPeer()) {
            return Optional.empty();
        }
        final DeviceAllocator variant = VARIANTS.get(name);
        return Optional.of(variant == null ? DeviceAllocator.named(name) : variant);
    }

    /** Returns whether all memory of a warp is freed at once. */
    boolean isArena() {
        return name.equals(FDG) || name.equals(ARENA);
    }

    /** Returns whether there is a form to link kernels with. */
    boolean isLinkable() {
        return !isEmpty() && !VARIANTS.containsKey(name);
    }

    /** Returns whether there is no allocator. */
    boolean isEmpty() {
        return name.equals(EMPTY);
    }

    /**
     * Returns whether the allocator is a published one, whose cases run in programs of their own.
     *
     * @return whether {@code bench/peers.sh} compiles it
     */
    public boolean isPeer() {
        return PEERS.containsKey(name);
    }

    /** Returns whether the allocator hands out memory that is in use when there is no other, and so never fails. */
    boolean overwrites() {
        return allocator().filter(DeviceAllocator.AW_MALLOC::equals).isPresent();
    }

    /** Returns whether the allocator is CUDA's own, alone or behind another. */
    boolean isCuda() {
        return allocator().filter(DeviceAllocator::usesDriverHeap).isPresent();
    }

    /** Returns whether the allocator needs memory beside the driver's heap. */
    boolean needsMemory() {
        return !isEmpty() && !name.equals(DeviceAllocator.CUDA_MALLOC.paperName());
    }

    /** Returns whether the heap is a list of chunks, from which statistics can be read. */
    boolean hasChunks() {
        return allocator().filter(DeviceAllocator::canFree).isPresent() && !isCuda();
    }

    /** Returns whether blocks must lie in the heap that the allocator was given. */
    boolean hasBounds() {
        return !isEmpty() && !isCuda();
    }

    /** Returns whether freed memory can be allocated again, or none is ever allocated. */
    boolean canFree() {
        return allocator().map(DeviceAllocator::canFree).orElse(true);
    }

    /** Returns the resource beside this class that holds the kernels as PTX, packed; for a peer, a program to run. */
    String resource() {
        if (isPeer()) {
            return "kernels-" + PEERS.get(name);
        }
        final String form = coalesced && !JOINING.contains(name) ? "-coalesced" : "";
        return "kernels-" + (linked ? ANY : name + form) + ".ptx.gz";
    }
}
