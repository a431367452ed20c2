package examples.onnx;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import ai.onnxruntime.OrtEnvironment;
import io.outboard.pool.Pool;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lets sessions of ONNX Runtime allocate tensors of the CPU from a pool: those that are made with the entry {@code
 * session.use_env_allocators=1} while this is open.
 *
 * <p>Safe for any number of threads. Cost: a call from C into Java for each tensor.
 */
@SuppressWarnings({"restricted", "UnusedMethod", "UnusedVariable"})
public final class PoolAllocator implements AutoCloseable {

    /** Of the C structure OrtAllocator: its version, and four functions behind it. */
    private static final int FUNCTIONS = 4;

    private final Pool pool;
    private final OrtCalls calls;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment environment;
    private final MemorySegment memoryInfo;
    private final AtomicLong allocations = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();

    private PoolAllocator(final Pool pool) throws ReflectiveOperationException {
        this.pool = pool;
        calls = OrtCalls.find();
        memoryInfo = calls.cpuMemory();
        environment = calls.environment();
        final MemorySegment allocator = arena.allocate((1 + FUNCTIONS) * ADDRESS.byteSize(), ADDRESS.byteAlignment());
        allocator.set(JAVA_INT, 0, OrtCalls.API_VERSION);
        final MemorySegment allocate = upcall(
                "allocate",
                MethodType.methodType(MemorySegment.class, MemorySegment.class, long.class),
                FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG));
        allocator.setAtIndex(ADDRESS, 1, allocate);
        allocator.setAtIndex(
                ADDRESS,
                2,
                upcall(
                        "free",
                        MethodType.methodType(void.class, MemorySegment.class, MemorySegment.class),
                        FunctionDescriptor.ofVoid(ADDRESS, ADDRESS)));
        allocator.setAtIndex(
                ADDRESS,
                3,
                upcall(
                        "info",
                        MethodType.methodType(MemorySegment.class, MemorySegment.class),
                        FunctionDescriptor.of(ADDRESS, ADDRESS)));
        // What is kept for as long as a session lives.
        allocator.setAtIndex(ADDRESS, FUNCTIONS, allocate);
        calls.register(environment, allocator);
    }

    /**
     * Makes a pool the allocator of sessions that ask for it.
     *
     * @param environment ONNX Runtime's, which has loaded its library
     * @param pool of memory that the CPU can use; it stays the caller's
     * @return what ends that, after the sessions
     * @throws IllegalStateException if ONNX Runtime refuses it: there is one already, say
     */
    public static PoolAllocator register(final OrtEnvironment environment, final Pool pool) {
        if (!environment.getVersion().startsWith("1.")) {
            throw new IllegalStateException("ONNX Runtime " + environment.getVersion() + " must be 1.x");
        }
        try {
            return new PoolAllocator(pool);
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * How often a tensor was allocated.
     *
     * @return count
     */
    public long allocations() {
        return allocations.get();
    }

    /**
     * How often the pool had no memory; ONNX Runtime was told so.
     *
     * @return count
     */
    public long refused() {
        return refused.get();
    }

    private MemorySegment upcall(final String name, final MethodType type, final FunctionDescriptor descriptor)
            throws ReflectiveOperationException {
        final MethodHandle target = MethodHandles.lookup().bind(this, name, type);
        return Linker.nativeLinker().upcallStub(target, descriptor, arena);
    }

    /** Null where there is none: nothing may be thrown into C. */
    private MemorySegment allocate(final MemorySegment self, final long bytes) {
        try {
            final long address = pool.allocate(Math.max(1, bytes));
            allocations.incrementAndGet();
            return MemorySegment.ofAddress(address);
        } catch (final RuntimeException | OutOfMemoryError e) {
            refused.incrementAndGet();
            return MemorySegment.NULL;
        }
    }

    private void free(final MemorySegment self, final MemorySegment block) {
        if (block.address() != 0) {
            pool.free(block.address());
        }
    }

    private MemorySegment info(final MemorySegment self) {
        return memoryInfo;
    }

    /** Sessions that use it must have been closed. */
    @Override
    public void close() {
        calls.unregister(environment, memoryInfo);
        calls.releaseEnvironment(environment);
        calls.releaseMemoryInfo(memoryInfo);
        arena.close();
    }
}
