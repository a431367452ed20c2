package io.outboard.cuda.kernels;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.pool.Pool;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** This class describes an {@link ObjectHeap}. Confined to one thread. */
public final class ObjectHeapBuilder {

    static final long ALIGNMENT_BYTES = 256;

    private static final long LEAST_BYTES = 64L << 10;
    private static final long MOST_BYTES = 64L << 30;
    private static final int MOST_TYPES = 16;
    private static final int MOST_FIELDS = 64;

    final @Nullable Pool pool;
    final long address;
    final long sizeBytes;
    MakeOrder order = MakeOrder.NEAR_FIRST;
    private final Map<String, DeclaredType> types = new LinkedHashMap<>();

    ObjectHeapBuilder(final @Nullable Pool pool, final long address, final long sizeBytes) {
        if (sizeBytes < LEAST_BYTES || sizeBytes > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "sizeBytes=" + sizeBytes + " must be from " + LEAST_BYTES + " to " + MOST_BYTES);
        }
        if (pool == null && (address <= 0 || address % ALIGNMENT_BYTES != 0)) {
            throw new IllegalArgumentException(
                    "address=" + address + " must be a multiple of " + ALIGNMENT_BYTES + " and > 0");
        }
        this.pool = pool;
        this.address = address;
        this.sizeBytes = sizeBytes;
    }

    /**
     * Adds a type of objects, as {@code struct Fish { OUTBOARD_FIELDS(...) }} is for kernels. Types and fields must have
     * the order of the kernels' {@code ObjectHeap<...>} and {@code OUTBOARD_FIELDS}, and fields the same names;
     * otherwise the heap stops the kernel.
     *
     * @param name the type's name for {@link ObjectHeap#forEach} and {@link ObjectHeap#statistics}
     * @param fields from 1 to 64, each of another name
     * @return this builder
     * @throws IllegalArgumentException if there is a type of that name already, or there are 16 types with objects, or
     *     the fields aren't as they must be; nothing has changed
     */
    public ObjectHeapBuilder type(final String name, final ObjectField... fields) {
        return declare(name, null, false, fields);
    }

    /**
     * Adds a type that extends another one, as {@code struct Shark : outboard::Extends<Animal>} does for kernels: it has
     * the fields of its base, and then its own. The base must be added before it, and, if it has objects of its own, must
     * also stand before it in the kernels' {@code ObjectHeap<...>}.
     *
     * @param name the type's name
     * @param base the name of a type that was added before
     * @param fields that the base doesn't have; maybe none, and 64 at most with those of the base
     * @return this builder
     * @throws IllegalArgumentException as for {@link #type(String, ObjectField...)}, or if there is no such base
     */
    public ObjectHeapBuilder subtype(final String name, final String base, final ObjectField... fields) {
        return declare(name, baseOf(base), false, fields);
    }

    /**
     * Adds a type that has no objects of its own, and so isn't in the kernels' {@code ObjectHeap<...>}: others extend
     * it.
     *
     * @param name the type's name
     * @param fields from 1 to 64, each of another name
     * @return this builder
     * @throws IllegalArgumentException as for {@link #type(String, ObjectField...)}
     */
    public ObjectHeapBuilder abstractType(final String name, final ObjectField... fields) {
        return declare(name, null, true, fields);
    }

    /**
     * Adds a type that has no objects of its own, and itself extends another one.
     *
     * @param name the type's name
     * @param base the name of a type that was added before
     * @param fields that the base doesn't have; maybe none, and 64 at most with those of the base
     * @return this builder
     * @throws IllegalArgumentException as for {@link #subtype}
     */
    public ObjectHeapBuilder abstractSubtype(final String name, final String base, final ObjectField... fields) {
        return declare(name, baseOf(base), true, fields);
    }

    /**
     * Chooses when kernels that make objects take a free block.
     *
     * @param makeOrder the order; {@link MakeOrder#NEAR_FIRST} where none is chosen
     * @return this builder
     */
    public ObjectHeapBuilder order(final MakeOrder makeOrder) {
        order = Objects.requireNonNull(makeOrder, "makeOrder");
        return this;
    }

    private DeclaredType baseOf(final String name) {
        final DeclaredType base = types.get(Objects.requireNonNull(name, "base"));
        if (base == null) {
            throw new IllegalArgumentException("base=" + name + " must be one of the types before: " + types.keySet());
        }
        return base;
    }

    private ObjectHeapBuilder declare(
            final String name,
            final @Nullable DeclaredType base,
            final boolean isAbstract,
            final ObjectField... fields) {
        return declare(new DeclaredType(
                name,
                base,
                isAbstract,
                Arrays.stream(fields).map(ObjectField::bytes).toList(),
                Arrays.stream(fields).map(ObjectField::name).toList()));
    }

    private ObjectHeapBuilder declare(final DeclaredType type) {
        final String name = Objects.requireNonNull(type.name(), "name");
        if (types.containsKey(name)) {
            throw new IllegalArgumentException("name=" + name + " must be another than of the types before");
        }
        final long concrete =
                types.values().stream().filter(each -> !each.isAbstract()).count();
        if (!type.isAbstract() && concrete == MOST_TYPES) {
            throw new IllegalArgumentException("name=" + name + " must be one of " + MOST_TYPES + " types at most");
        }
        final List<String> fields = type.fieldNames();
        if (fields.isEmpty() || fields.size() > MOST_FIELDS) {
            throw new IllegalArgumentException("name=" + name + " must have from 1 to " + MOST_FIELDS
                    + " fields, those of its base among them, and not " + fields.size());
        }
        final Set<String> known = new HashSet<>();
        for (final String field : fields) {
            if (!known.add(field)) {
                throw new IllegalArgumentException("field=" + field + " of " + name
                        + " must have another name than the fields before, those of its base among them");
            }
        }
        types.put(name, type);
        return this;
    }

    /**
     * Waits for all work in the calling thread's current CUDA context, and makes the heap there.
     *
     * @return the heap, without objects
     * @throws IllegalArgumentException if there is no type that has objects, or no room for a block; nothing is taken
     * @throws CudaUnavailableException if there is no driver or no device, or JCuda's native library doesn't load; or
     *     if the driver is too old for the PTX in the jar and there is no NVRTC, and the message says what to install
     * @throws io.outboard.core.DeviceOutOfMemoryException if the pool has no such block
     * @throws CudaFailureException if CUDA fails otherwise; no exception leaves anything taken or loaded
     */
    public ObjectHeap build() {
        return build(KernelDriver.load());
    }

    ObjectHeap build(final KernelDriver driver) {
        return ObjectHeap.build(driver, this, layout());
    }

    ObjectLayout layout() {
        if (types.values().stream().allMatch(DeclaredType::isAbstract)) {
            throw new IllegalArgumentException(
                    "types=" + types.keySet() + " must have one at least that isn't abstract");
        }
        return ObjectLayout.of(types.values());
    }
}
