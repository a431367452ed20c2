package io.outboard.bench.kernels.programs;

import io.outboard.cuda.kernels.DeviceAllocator;
import io.outboard.cuda.kernels.MakeOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A store is what a program's kernels were compiled with, that is, what its objects live in. Immutable.
 *
 * @param name as in the name of the resource: {@code ObjectHeap}, {@code Aos}, {@code Soa}; or an allocator's, and how
 *     it is used, such as {@code CFMMalloc-coalesced}; or {@code ObjectHeap-} and an order that isn't the default
 */
public record Store(String name) {

    /** The store that is a heap of objects. */
    public static final Store OBJECT_HEAP = new Store("ObjectHeap");

    /** The store of arrays of structures, without an allocator. */
    public static final Store AOS = new Store("Aos");

    /** The store of structures of arrays, without an allocator. */
    public static final Store SOA = new Store("Soa");

    /** The store of one array for all types and a bitmap of its free places, behind plain structures. */
    public static final Store BITMAP_ALLOC = new Store("BitmapAlloc");

    private static final Store MALLOC_MC = new Store("mallocMC");
    private static final Store HALLOC = new Store("Halloc");

    /** The store of a counter that only advances, in memory that was set aside: the least that requests can cost. */
    static final Store BUMP = new Store("Bump");

    private static final Map<String, MakeOrder> ORDERS =
            Map.of("", MakeOrder.NEAR_FIRST, "-active", MakeOrder.ACTIVE_FIRST, "-paper", MakeOrder.PAPER);

    private static final String COALESCED = "-coalesced";
    private static final String BUFFERED = "-buffered";

    /**
     * Returns the stores of allocators behind plain structures: one form of each allocator, the fastest where threads
     * of a warp allocate together; and {@code Buffered} in front of CUDA's own.
     *
     * @return stores in the order of tables
     */
    static List<Store> allocators() {
        return List.of(
                of(DeviceAllocator.BIT_MALLOC, ""),
                of(DeviceAllocator.C_MALLOC, COALESCED),
                of(DeviceAllocator.CF_MALLOC, COALESCED),
                of(DeviceAllocator.CM_MALLOC, COALESCED),
                of(DeviceAllocator.CFM_MALLOC, COALESCED),
                of(DeviceAllocator.CUDA_MALLOC, ""),
                of(DeviceAllocator.CUDA_MALLOC, BUFFERED));
    }

    /** Returns the heap of objects, then the allocators. */
    public static List<Store> ofObjects() {
        return Stream.concat(Stream.of(OBJECT_HEAP), allocators().stream()).toList();
    }

    /** Returns the heap of objects, the paper's baseline, the allocators, and both kinds of arrays. */
    public static List<Store> all() {
        final List<Store> all = new ArrayList<>(List.of(OBJECT_HEAP, BITMAP_ALLOC));
        all.addAll(allocators());
        all.add(AOS);
        all.add(SOA);
        return all;
    }

    /** Returns published allocators, over which {@code bench/peers.sh} compiles programs from their authors' sources. */
    public static List<Store> peers() {
        return List.of(MALLOC_MC, HALLOC);
    }

    private static Store of(final DeviceAllocator allocator, final String form) {
        return new Store(allocator.paperName() + form);
    }

    /** Returns the store of an allocator as it is. */
    public static Store plain(final DeviceAllocator allocator) {
        return of(allocator, "");
    }

    /**
     * Returns the name in tables.
     *
     * @return for example {@code CFMMalloc coalesced}
     */
    public String label() {
        return name.replace('-', ' ');
    }

    /** Returns the allocator; empty if there is none. */
    public Optional<DeviceAllocator> allocator() {
        final boolean isNone = isObjectHeap()
                || isPeer()
                || List.of(BITMAP_ALLOC, AOS, SOA, BUMP).contains(this);
        return isNone ? Optional.empty() : Optional.of(DeviceAllocator.named(name.replaceAll("-.*", "")));
    }

    /** Returns whether objects are structures that are known by pointers to them. */
    public boolean hasPointers() {
        return equals(BITMAP_ALLOC) || allocator().isPresent();
    }

    /** Returns whether the store is a heap of objects, whatever its order. */
    public boolean isObjectHeap() {
        return name.startsWith(OBJECT_HEAP.name);
    }

    /** Returns the order of a heap of objects. */
    MakeOrder order() {
        return Objects.requireNonNull(ORDERS.get(name.substring(OBJECT_HEAP.name.length())), name);
    }

    /**
     * Returns a heap of objects with another order.
     *
     * @param order near, active or paper
     */
    public static Store ordered(final String order) {
        return order.equals("near") ? OBJECT_HEAP : new Store(OBJECT_HEAP.name + "-" + order);
    }

    /** Returns whether the allocator is CUDA's own, maybe behind another. */
    public boolean isCuda() {
        return allocator().filter(DeviceAllocator::usesDriverHeap).isPresent();
    }

    /**
     * Returns whether freed blocks are kept in buffers, which belong to the module: CUDA's heap loses the blocks when
     * the module is unloaded.
     */
    public boolean isBuffered() {
        return name.contains(BUFFERED);
    }

    /** Returns whether programs over the store run in processes of their own. */
    public boolean isPeer() {
        return peers().contains(this);
    }

    /**
     * Returns the resource beside this class that holds a program's kernels for this store; for a peer, a program to
     * run.
     */
    public String resource(final String program) {
        return program + "-" + (isObjectHeap() ? OBJECT_HEAP.name : name) + (isPeer() ? "" : ".ptx.gz");
    }
}
