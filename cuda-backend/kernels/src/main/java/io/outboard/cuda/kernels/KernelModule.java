package io.outboard.cuda.kernels;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.ContextScope;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaFailures;
import io.outboard.cuda.kernels.internal.DevicePtx;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.cuda.kernels.internal.KernelLink;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.NativePointerObject;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaError;

/**
 * A module has kernels in a CUDA context, loaded from PTX, or linked from PTX with one of the in-kernel allocators.
 *
 * <p>A kernel to link declares {@code extern "C" __device__ void* outboardMalloc(void* heap, size_t bytes)} and {@code
 * void outboardFree(void* heap, void* pointer)}, is compiled with {@code nvcc -ptx -rdc=true}, and gets the heap's
 * address, {@link DeviceHeap#address}, as an argument. Kernels compiled with {@link DeviceHeaders} need no linking.
 *
 * <p>A module belongs to the context that was current when it was made: the primary context of the thread's device,
 * unless the program made another context current. Its methods work with any context current.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: the driver compiles PTX in some 10 milliseconds, and keeps
 * the result for later processes; a launch takes some 5 microseconds. When the device has no memory for the code,
 * {@link CudaFailureException} is thrown.
 */
// A scope takes effect while it is open, so its variable is never read.
@SuppressWarnings("try")
public final class KernelModule implements AutoCloseable {

    private final KernelDriver driver;
    private final long context;
    private final String name;
    private final long module;
    private final Map<String, CUfunction> functions = new ConcurrentHashMap<>();
    private boolean closed;

    private KernelModule(final KernelDriver driver, final long context, final String name, final long module) {
        this.driver = driver;
        this.context = context;
        this.name = name;
        this.module = module;
    }

    /**
     * Loads PTX.
     *
     * @param name the name of the module in messages
     * @param ptx the text of the PTX
     * @return the module
     * @throws CudaUnavailableException if there is no driver or no device, or JCuda's native library doesn't load
     * @throws CudaFailureException if CUDA fails; the message has what the driver's compiler says, and nothing is
     *     loaded
     */
    public static KernelModule load(final String name, final String ptx) {
        return load(name, ptx.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Loads PTX, or code that was compiled for this kind of GPU.
     *
     * @param name the name of the module in messages
     * @param image PTX, a cubin or a fatbin
     * @return the module
     * @throws CudaUnavailableException if there is no driver or no device, or JCuda's native library doesn't load
     * @throws CudaFailureException if CUDA fails; the message has what the driver's compiler says, and nothing is
     *     loaded
     */
    public static KernelModule load(final String name, final byte[] image) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(image, "image");
        final KernelDriver driver = KernelDriver.load();
        final long[] module = new long[1];
        final String[] log = new String[1];
        final long context = driver.currentContext();
        check("cuModuleLoadData of " + name, driver.kernels().load(module, image, log), log);
        return new KernelModule(driver, context, name, module[0]);
    }

    /**
     * Loads Outboard's own PTX into the current context, and compiles its source anew if the driver refuses the PTX in
     * the jar.
     */
    static KernelModule load(final KernelDriver driver, final DevicePtx ptx) {
        final long context = driver.currentContext();
        final long[] module = new long[1];
        final String[] log = new String[1];
        int code = load(driver, module, ptx.text(), log);
        if (KernelDriver.isRefusal(code)) {
            code = load(driver, module, driver.compiler().compile(ptx), log);
        }
        check("cuModuleLoadData of " + ptx.name(), code, log);
        return new KernelModule(driver, context, ptx.name(), module[0]);
    }

    private static int load(final KernelDriver driver, final long[] module, final String ptx, final String[] log) {
        return driver.kernels().load(module, ptx.getBytes(StandardCharsets.UTF_8), log);
    }

    /**
     * Links kernels with an in-kernel allocator, and loads the result. Each thread makes its own claim, except with the
     * allocators that always join the requests of a warp.
     *
     * @param allocator the allocator that {@code outboardMalloc} and {@code outboardFree} call
     * @param userPtx texts of relocatable PTX, at least one
     * @return the module
     * @throws IllegalArgumentException if {@code userPtx} is empty, or calls functions of Outboard's that don't exist;
     *     nothing is loaded
     * @throws CudaUnavailableException if there is no driver or no device, or JCuda's native library doesn't load; or
     *     if the driver is too old for the allocator's PTX and there is no NVRTC to compile it, and the message says
     *     what to install; nothing is loaded
     * @throws CudaFailureException if CUDA fails; the message has what the driver's compiler says or which symbols are
     *     missing, and nothing is loaded
     */
    public static KernelModule link(final DeviceAllocator allocator, final String... userPtx) {
        return link(allocator, false, false, userPtx);
    }

    /**
     * Does what {@link #link} does, but one claim serves all threads of a warp that allocate together, which is faster
     * if many threads do. Each block is freed separately, by any thread.
     *
     * @param allocator the allocator that {@code outboardMalloc} and {@code outboardFree} call
     * @param userPtx texts of relocatable PTX, at least one
     * @return the module
     * @throws IllegalArgumentException as {@link #link}
     * @throws CudaUnavailableException as {@link #link}
     * @throws CudaFailureException as {@link #link}
     */
    public static KernelModule linkCoalesced(final DeviceAllocator allocator, final String... userPtx) {
        return link(allocator, true, false, userPtx);
    }

    /**
     * Does what {@link #link} does with the allocator's checked build, to look for wrong frees. The checked build
     * refuses a second free, and counts it in {@link DeviceHeapStatistics#misuses}. The build can't tell a second free
     * from a right free once the memory was handed out again.
     *
     * <p>The usual builds of the CMalloc family also refuse a second free, unless other threads' calls come between:
     * then the free may damage the heap. The usual build of {@link DeviceAllocator#BIT_MALLOC} may hand memory out
     * twice after any second free. Even the checked builds of {@link DeviceAllocator#C_MALLOC} and
     * {@link DeviceAllocator#CM_MALLOC} may miss a second free during which the block is joined to another block, and
     * the joined block is divided at the same place. A checked free of these two allocators has a second atomic
     * operation; a checked free of the others tries its operation again when a neighbour changes.
     *
     * @param allocator the allocator that {@code outboardMalloc} and {@code outboardFree} call, for which
     *     {@link DeviceAllocator#hasCheckedBuild} is true
     * @param userPtx texts of relocatable PTX, at least one
     * @return the module
     * @throws IllegalArgumentException as {@link #link}; or if the allocator has no checked build, and nothing is
     *     loaded
     * @throws CudaUnavailableException as {@link #link}
     * @throws CudaFailureException as {@link #link}
     */
    public static KernelModule linkChecked(final DeviceAllocator allocator, final String... userPtx) {
        return link(allocator, false, true, userPtx);
    }

    /**
     * Does what {@link #linkCoalesced} does, with the checked build of {@link #linkChecked}.
     *
     * @param allocator the allocator that {@code outboardMalloc} and {@code outboardFree} call, for which
     *     {@link DeviceAllocator#hasCheckedBuild} is true
     * @param userPtx texts of relocatable PTX, at least one
     * @return the module
     * @throws IllegalArgumentException as {@link #linkChecked}
     * @throws CudaUnavailableException as {@link #link}
     * @throws CudaFailureException as {@link #link}
     */
    public static KernelModule linkCoalescedChecked(final DeviceAllocator allocator, final String... userPtx) {
        return link(allocator, true, true, userPtx);
    }

    private static KernelModule link(
            final DeviceAllocator allocator, final boolean coalesced, final boolean checked, final String... userPtx) {
        Objects.requireNonNull(allocator, "allocator");
        if (checked && !allocator.hasCheckedBuild()) {
            throw new IllegalArgumentException("allocator=" + allocator + " must have a checked build");
        }
        if (userPtx.length == 0) {
            throw new IllegalArgumentException("userPtx=[] must have one text at least");
        }
        return link(KernelDriver.load(), DevicePtx.of(allocator.paperName(), coalesced, checked), userPtx);
    }

    static KernelModule link(final KernelDriver driver, final DevicePtx ours, final String... userPtx) {
        final long context = driver.currentContext();
        return new KernelModule(driver, context, ours.name() + " and kernels", KernelLink.link(driver, ours, userPtx));
    }

    /**
     * Finds a kernel.
     *
     * @param kernel its name, as {@code extern "C"} leaves it
     * @return the kernel's handle, the same each time; must not be used after {@link #close}
     * @throws IllegalArgumentException if the module has no such kernel
     * @throws IllegalStateException if the module is closed
     * @throws CudaFailureException if CUDA fails otherwise
     */
    public CUfunction function(final String kernel) {
        Objects.requireNonNull(kernel, "kernel");
        final CUfunction known = functions.get(kernel);
        return known == null ? find(kernel) : known;
    }

    private synchronized CUfunction find(final String kernel) {
        if (closed) {
            throw new IllegalStateException("the module " + name + " is closed");
        }
        final long[] function = new long[1];
        try (ContextScope scope = driver.scope(context)) {
            final int code = driver.kernels().function(function, module, kernel);
            if (code == CUresult.CUDA_ERROR_NOT_FOUND) {
                throw new IllegalArgumentException("kernel=" + kernel + " must be a kernel of the module " + name);
            }
            CudaFailures.check("cuModuleGetFunction", code);
        }
        return functions.computeIfAbsent(kernel, key -> DevicePointers.withHandle(new CUfunction(), function[0]));
    }

    /**
     * Answers how many registers a thread of a kernel takes on this device.
     *
     * @param kernel its name
     * @return a number of 32-bit registers, 1 or more
     * @throws IllegalArgumentException if the module has no such kernel
     * @throws IllegalStateException if the module is closed
     * @throws CudaFailureException if CUDA fails otherwise
     */
    public int registers(final String kernel) {
        final long function = DevicePointers.handle(function(kernel));
        final int[] registers = new int[1];
        try (ContextScope scope = driver.scope(context)) {
            CudaFailures.check(
                    "cuFuncGetAttribute",
                    driver.kernels().attribute(registers, CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function));
        }
        return registers[0];
    }

    /**
     * Launches a kernel, and doesn't wait for its end: a later call reports an error in the kernel.
     *
     * @param kernel its name
     * @param gridBlocks number of blocks, in one dimension, {@code 0 < gridBlocks}
     * @param blockThreads threads of each, {@code 0 < blockThreads}, at most what kernel and device allow
     * @param stream a stream of this context, or an object without a handle for the default stream
     * @param arguments pointers to host memory that holds the kernel's arguments, such as {@code Pointer.to(new
     *     long[]{heap.address()})}; the memory is read before the call returns
     * @throws IllegalArgumentException if a number is outside of its range or the module has no such kernel; nothing
     *     runs
     * @throws IllegalStateException if the module is closed; nothing runs
     * @throws CudaFailureException if CUDA fails otherwise
     */
    public void launch(
            final String kernel,
            final int gridBlocks,
            final int blockThreads,
            final CUstream stream,
            final NativePointerObject... arguments) {
        checkPositive("gridBlocks", gridBlocks);
        checkPositive("blockThreads", blockThreads);
        final long function = DevicePointers.handle(function(kernel));
        final long handle = DevicePointers.handle(stream);
        try (ContextScope scope = driver.scope(context)) {
            CudaFailures.check(
                    "cuLaunchKernel of " + kernel,
                    driver.kernels().launch(function, gridBlocks, blockThreads, handle, arguments));
        }
    }

    /**
     * Unloads the code, whose kernels must have finished. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; the module is closed all the same
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            functions.clear();
            try (ContextScope scope = driver.scope(context)) {
                CudaFailures.check("cuModuleUnload", driver.kernels().unload(module));
            }
        }
    }

    private static void check(final String call, final int code, final String[] log) {
        if (code != CudaCalls.SUCCESS) {
            throw new CudaFailureException(call, code, cudaError.stringFor(code), log[0]);
        }
    }

    private static void checkPositive(final String name, final int value) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + "=" + value + " must be > 0");
        }
    }
}
