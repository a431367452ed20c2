package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.memory.JCudaCalls.ask;

import io.outboard.core.InvalidAddressException;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.CudaCalls;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;
import jcuda.CudaException;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaPitchedPtr;
import org.jspecify.annotations.Nullable;

/**
 * A facade has the code that {@code OutboardRuntime} and {@code OutboardDriver} share, for any pools and any CUDA. Each
 * of their functions calls the facade with JCuda's function of the same name, the original. The pool serves ordinary
 * calls. Other calls, and those that the pool can't serve, go to the original with the caller's own arguments, unless a
 * lender has refused the memory. So CUDA decides what happens in corner cases and which code is returned, and JCuda
 * throws its own exceptions for a Java null. Safe for any number of threads.
 */
public final class Facade {

    private final ContextPools pools;
    private final boolean ofRuntime;
    private volatile boolean exceptionsEnabled;

    /** This interface is a function that allocates; callers pass a method reference, which captures nothing. */
    public interface Allocation<P extends Pointer> {
        int allocate(P pointer, long sizeBytes);
    }

    /** This interface is a function that allocates on a stream. */
    public interface AsyncAllocation {
        int allocate(CUdeviceptr pointer, long sizeBytes, CUstream stream);
    }

    private Facade(final ContextPools pools, final boolean ofRuntime) {
        this.pools = pools;
        this.ofRuntime = ofRuntime;
    }

    /** Makes the runtime's facade, which makes a context where a thread has none, and keeps CUDA's last error. */
    public static Facade ofRuntime(final ContextPools pools) {
        return new Facade(pools, true);
    }

    public static Facade ofDriver(final ContextPools pools) {
        return new Facade(pools, false);
    }

    public void setExceptionsEnabled(final boolean enabled) {
        exceptionsEnabled = enabled;
    }

    /** Ends a call as JCuda does: returns the code, or throws if the code is an error and exceptions are on. */
    private int result(final int code) {
        if (code != CudaCalls.SUCCESS && exceptionsEnabled) {
            throw new CudaException(ofRuntime ? cudaError.stringFor(code) : CUresult.stringFor(code));
        }
        return code;
    }

    private @Nullable ContextPool current() {
        return pools.ofThread(ofRuntime);
    }

    // The methods below allocate and free memory.

    public <P extends Pointer> int allocate(final P pointer, final long sizeBytes, final Allocation<P> original) {
        final ContextPool pool = current();
        final long address = pool == null || pointer == null || sizeBytes <= 0 ? 0 : pool.allocate(sizeBytes);
        if (address > ContextPool.NOT_SERVED) {
            DevicePointers.set(pointer, address);
            return CudaCalls.SUCCESS;
        }
        return elseByDriver(address, pool, pointer, () -> original.allocate(pointer, sizeBytes));
    }

    /** Allocates in the stream's context, even if another context is current. */
    public int allocateAsync(
            final CUdeviceptr pointer, final long sizeBytes, final CUstream stream, final AsyncAllocation original) {
        final long handle = handleOf(stream);
        final ContextPool pool = handle == 0 ? current() : pools.inContext(pools.contextOf(handle));
        final long address = pool == null || pointer == null || stream == null || sizeBytes <= 0
                ? 0
                : pool.allocateAsync(sizeBytes, handle);
        if (address > ContextPool.NOT_SERVED) {
            DevicePointers.set(pointer, address);
            return CudaCalls.SUCCESS;
        }
        return elseByDriver(
                address, pool == null ? current() : pool, pointer, () -> original.allocate(pointer, sizeBytes, stream));
    }

    /**
     * Lets JCuda allocate what the pool hasn't served, unless a lender refused it. If the allocation fails, the pointer
     * becomes null.
     */
    private int elseByDriver(
            final long address, final @Nullable ContextPool pool, final Pointer pointer, final IntSupplier call) {
        int code = cudaError.cudaErrorMemoryAllocation;
        if (address == ContextPool.NOT_SERVED) {
            code = pool == null ? ask(call) : pool.allocateByDriver(ofRuntime, () -> ask(call));
        }
        if (code != CudaCalls.SUCCESS && pointer != null) {
            // JCuda leaves an arbitrary address of its stack in the pointer.
            DevicePointers.set(pointer, 0);
        }
        return result(code);
    }

    /** Allocates rows at the driver's pitch for their width. */
    public int allocateRows(
            final Pointer pointer,
            final long @Nullable [] pitch,
            final long widthBytes,
            final long rows,
            final IntSupplier original) {
        final ContextPool pool = current();
        if (pool == null || pointer == null || pitch == null) {
            return elseByDriver(ContextPool.NOT_SERVED, pool, pointer, original);
        }
        final long pitchBytes = pool.pitchOf(widthBytes, rows);
        final long address = pitchBytes == 0 ? ContextPool.NOT_SERVED : pool.allocate(pitchBytes * rows);
        if (address > ContextPool.NOT_SERVED) {
            pitch[0] = pitchBytes;
            DevicePointers.set(pointer, address);
            return CudaCalls.SUCCESS;
        }
        return elseByDriver(address, pool, pointer, original);
    }

    public int allocateSlices(final cudaPitchedPtr slices, final cudaExtent extent, final IntSupplier original) {
        final boolean ordinary = slices != null && extent != null && extent.depth > 0 && extent.height > 0;
        // The driver refuses more rows than fit into a long.
        final long rows = !ordinary || extent.depth > Long.MAX_VALUE / extent.height ? 0 : extent.height * extent.depth;
        final Pointer pointer = !ordinary || slices.ptr == null ? new Pointer() : slices.ptr;
        final long[] pitch = {-1};
        final int code = allocateRows(pointer, pitch, ordinary ? extent.width : 0, rows, () -> {
            final int answer = ask(original);
            if (answer != CudaCalls.SUCCESS && slices.ptr != null) {
                DevicePointers.set(slices.ptr, 0);
            }
            return answer;
        });
        if (code == CudaCalls.SUCCESS && pitch[0] >= 0) {
            slices.ptr = pointer;
            slices.pitch = pitch[0];
            slices.xsize = extent.width;
            slices.ysize = extent.height;
        }
        return code;
    }

    public <P extends Pointer> int free(final P pointer, final ToIntFunction<P> original) {
        final ContextPool owner = owner(pointer);
        if (owner != null) {
            return result(owner.free(DevicePointers.address(pointer)));
        }
        final int code = ask(() -> original.applyAsInt(pointer));
        if (ofRuntime && code == CudaCalls.SUCCESS && DevicePointers.address(pointer) == 0) {
            // A free of null is the usual way to make a context, so the context's pool is made, too.
            pools.prepare();
        }
        return result(code);
    }

    public int freeAsync(
            final CUdeviceptr pointer, final CUstream stream, final ToIntBiFunction<CUdeviceptr, CUstream> original) {
        final ContextPool owner = owner(pointer);
        if (owner == null) {
            return result(ask(() -> original.applyAsInt(pointer, stream)));
        }
        final long handle = handleOf(stream);
        // Each context has a default stream of its own. If the current context is the owner's, CUDA needn't be asked.
        final long home = handle == 0 && current() == owner ? owner.context() : pools.contextOf(handle);
        return result(owner.freeAsync(DevicePointers.address(pointer), handle, home));
    }

    /** Finds the pool of a pointer's memory; null for the driver's memory, and for null. */
    private @Nullable ContextPool owner(final @Nullable Pointer pointer) {
        return pointer == null ? null : pools.owner(DevicePointers.address(pointer));
    }

    /** Adds what the pool has free to what the driver has. */
    public int memoryInfo(final long @Nullable [] freeBytes, final IntSupplier original) {
        final int code = ask(original);
        if (code == CudaCalls.SUCCESS && freeBytes != null && freeBytes.length > 0) {
            final ContextPool pool = current();
            freeBytes[0] = pool == null ? freeBytes[0] : pool.withUnused(freeBytes[0]);
        }
        return result(code);
    }

    /** Refuses to share a pool's memory, since a handle would name all of a region. */
    public int shareMemory(final @Nullable Object handle, final Pointer pointer, final IntSupplier original) {
        final boolean refused = handle != null && owner(pointer) != null;
        return result(refused ? cudaError.cudaErrorNotSupported : ask(original));
    }

    /** Finds the block, and not the region, of an address in a pool. */
    public int addressRange(
            final @Nullable CUdeviceptr base,
            final long @Nullable [] sizeBytes,
            final CUdeviceptr pointer,
            final IntSupplier original) {
        final ContextPool owner = owner(pointer);
        if (owner == null) {
            return result(ask(original));
        }
        final long wanted = DevicePointers.address(pointer);
        final long[] begin = new long[1];
        owner.pool().forEachBlock((address, blockBytes, free) -> {
            if (!free && wanted >= address && wanted - address < blockBytes) {
                begin[0] = address;
            }
        });
        final long foundBytes;
        try {
            foundBytes = owner.pool().sizeOf(begin[0]);
        } catch (final InvalidAddressException e) {
            // The block is free, or in limbo, which the program can't tell apart.
            return result(CUresult.CUDA_ERROR_NOT_FOUND);
        }
        if (base != null) {
            DevicePointers.set(base, begin[0]);
        }
        if (sizeBytes != null) {
            sizeBytes[0] = foundBytes;
        }
        return CudaCalls.SUCCESS;
    }

    // The methods below are about streams.

    /** Destroys a stream, and with it its capture. */
    public int destroyStream(final @Nullable NativePointerObject stream, final IntSupplier original) {
        pools.captures().ended(handleOf(stream));
        return result(ask(original));
    }

    public int beginCapture(final CUstream stream, final IntSupplier original) {
        final long handle = handleOf(stream);
        // The capture is announced before the call, so that no other thread synchronises in between.
        final boolean begun = pools.captures().begin(handle, pools.contextOf(handle));
        final int code = ask(original);
        if (begun && code != CudaCalls.SUCCESS) {
            pools.captures().ended(handle);
        }
        return result(code);
    }

    public int endCapture(final CUstream stream, final IntSupplier original) {
        final int code = ask(original);
        if (code != CUresult.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
            pools.captures().ended(handleOf(stream));
        }
        return result(code);
    }

    // The methods below are about devices and contexts.

    /** Makes a call after which the thread may use another context. */
    public int choose(final IntSupplier original) {
        final int code = ask(original);
        pools.forget();
        if (code == CudaCalls.SUCCESS) {
            pools.prepare();
        }
        return result(code);
    }

    public int make(final CUcontext made, final IntSupplier original) {
        return choose(() -> pools.exclusively(() -> {
            final int code = ask(original);
            if (code == CudaCalls.SUCCESS) {
                pools.contextMade(DevicePointers.handle(made));
            }
            return code;
        }));
    }

    /**
     * Makes a call that may end a context. A successful call has ended it if {@code surely}, and otherwise only if the
     * context isn't current afterwards.
     */
    public int end(final CUcontext context, final boolean surely, final IntSupplier original) {
        final long handle = handleOf(context);
        final int code = pools.exclusively(() -> pools.end(handle, () -> {
            final int answer = ask(original);
            if (answer == CudaCalls.SUCCESS && (surely || !pools.isCurrent(handle))) {
                pools.contextEnded(handle);
            }
            return answer;
        }));
        pools.forget();
        return result(code);
    }

    /**
     * Makes a call that may end a device's primary context. A successful call has ended it if {@code surely}, and
     * otherwise only if it isn't the device's primary context afterwards.
     */
    public int endPrimary(final CUdevice device, final boolean surely, final IntSupplier original) {
        final int number = device == null ? ContextPools.NO_DEVICE : (int) DevicePointers.handle(device);
        return result(pools.exclusively(() -> pools.endPrimary(number, surely, () -> ask(original))));
    }

    public int resetDevice(final IntSupplier original) {
        return result(pools.exclusively(() -> {
            final int device = pools.currentDevice();
            // If another context than the primary one is current, CUDA returns success and leaves both as they are.
            final boolean surely = pools.isCurrent(pools.primaryOf(device));
            return pools.endPrimary(device, surely, () -> ask(original));
        }));
    }

    /**
     * Makes a call that gives the current context access to the memory of another device's primary context if
     * {@code shown}, and otherwise takes the access away.
     */
    public int changeView(final boolean shown, final int peer, final IntSupplier original) {
        return changeView(shown, () -> pools.primaryOf(peer), original);
    }

    public int changeView(final boolean shown, final CUcontext peer, final IntSupplier original) {
        return changeView(shown, () -> handleOf(peer), original);
    }

    private int changeView(final boolean shown, final LongSupplier peer, final IntSupplier original) {
        final int code = ask(original);
        // An access that is enabled already may be new to the pools, since a library can enable it without the facade.
        if (code == CudaCalls.SUCCESS || (shown && code == cudaError.cudaErrorPeerAccessAlreadyEnabled)) {
            final int followed = pools.changeView(peer.getAsLong(), shown);
            return result(followed == CudaCalls.SUCCESS ? code : followed);
        }
        return result(code);
    }

    private static long handleOf(final @Nullable NativePointerObject object) {
        return object == null ? 0 : DevicePointers.handle(object);
    }
}
