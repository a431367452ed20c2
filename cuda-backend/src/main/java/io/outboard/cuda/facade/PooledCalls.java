package io.outboard.cuda.facade;

import io.outboard.cuda.memory.CudaCalls;
import io.outboard.cuda.memory.DevicePointers;
import io.outboard.cuda.memory.JCudaCalls;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import jcuda.CudaException;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * What the facades of runtime and driver have in common. The rule of both: what is ordinary comes from the pool; what
 * isn't, and what the pool can't serve, goes to CUDA itself with the caller's own arguments, unless a lender has refused it. So corner cases are CUDA's,
 * and its codes and the exceptions of JCuda for a Java null, too. Safe for any number of threads.
 */
abstract class PooledCalls {

    final ContextPools pools;
    private final IntFunction<String> names;
    private final boolean keepsLastError;
    private volatile boolean exceptionsEnabled;

    /** {@code names} are those in JCuda's exceptions; {@code keepsLastError} if failed calls leave an error that the program finds later. */
    PooledCalls(final ContextPools pools, final IntFunction<String> names, final boolean keepsLastError) {
        this.pools = pools;
        this.names = names;
        this.keepsLastError = keepsLastError;
    }

    public void setExceptionsEnabled(final boolean enabled) {
        exceptionsEnabled = enabled;
        originalSetExceptionsEnabled(enabled);
    }

    abstract void originalSetExceptionsEnabled(boolean enabled);

    /** What a function of JCuda does in the end: returns the code, or throws if it is an error and exceptions are on. */
    final int result(final int code) {
        if (code != CudaCalls.SUCCESS && exceptionsEnabled) {
            throw new CudaException(names.apply(code));
        }
        return code;
    }

    /** JCuda's code, whether its own exceptions are on or off. */
    final int ask(final IntSupplier call) {
        try {
            return call.getAsInt();
        } catch (final CudaException e) {
            return JCudaCalls.codeOf(e, names);
        }
    }

    /** The answer of JCuda's own function. */
    final int original(final IntSupplier call) {
        return result(ask(call));
    }

    // Memory

    /** From the pool. An address, or what {@link ContextPool} says instead. */
    static long allocate(final @Nullable ContextPool pool, final @Nullable Pointer pointer, final long sizeBytes) {
        return pool == null || pointer == null || sizeBytes <= 0 ? ContextPool.NOT_SERVED : pool.allocate(sizeBytes);
    }

    /** What a caller is answered, with the pointer set: {@code address} is what the pool has answered, and the call does the same by JCuda. */
    final int allocated(
            final long address,
            final @Nullable ContextPool pool,
            final @Nullable Pointer pointer,
            final IntSupplier call) {
        int code = cudaError.cudaErrorMemoryAllocation;
        if (address == ContextPool.NOT_SERVED) {
            code = pool == null ? ask(call) : pool.allocateByDriver(keepsLastError, () -> ask(call));
        } else if (address != ContextPool.REFUSED) {
            code = CudaCalls.SUCCESS;
            DevicePointers.set(pointer, address);
        }
        if (code != CudaCalls.SUCCESS && pointer != null) {
            // JCuda leaves there whatever was on its stack.
            DevicePointers.set(pointer, 0);
        }
        return result(code);
    }

    /** Rows at the pitch that is theirs, if the pool serves it: what the driver does otherwise. */
    final int allocateRows(
            final @Nullable ContextPool pool,
            final @Nullable Pointer pointer,
            final long @Nullable [] pitch,
            final long widthBytes,
            final long rows,
            final IntSupplier call) {
        final long pitchBytes = pool == null || pitch == null ? 0 : pool.pitchOf(widthBytes, rows);
        final long address = allocate(pool, pointer, pitchBytes * rows);
        if (pitch != null && address > ContextPool.NOT_SERVED) {
            pitch[0] = pitchBytes;
        }
        return allocated(address, pool, pointer, call);
    }

    /** The pool that a pointer's memory is of; null for the driver's memory, and for null. */
    final @Nullable ContextPool owner(final @Nullable Pointer pointer) {
        return pointer == null ? null : pools.owner(DevicePointers.address(pointer));
    }

    /** Tells what is free, by a call of JCuda, and adds what the pool has free. */
    final int memoryInfo(final boolean binds, final long @Nullable [] freeBytes, final IntSupplier call) {
        final int code = ask(call);
        if (code == CudaCalls.SUCCESS && freeBytes != null && freeBytes.length > 0) {
            final ContextPool pool = binds ? pools.ofRuntime() : pools.ofDriver();
            freeBytes[0] = pool == null ? freeBytes[0] : pool.withUnused(freeBytes[0]);
        }
        return result(code);
    }

    /** Such a handle would name all of a region. */
    final int shareMemory(final @Nullable Object handle, final @Nullable Pointer pointer, final IntSupplier call) {
        return handle != null && owner(pointer) != null ? result(cudaError.cudaErrorNotSupported) : original(call);
    }

    // Contexts

    /** Lets the current context see another's memory, or not any more, by a call of JCuda. */
    final int changeView(final boolean shown, final LongSupplier other, final IntSupplier call) {
        final int code = ask(call);
        // A library may have done so by itself, unseen.
        final boolean changed =
                code == CudaCalls.SUCCESS || (shown && code == cudaError.cudaErrorPeerAccessAlreadyEnabled);
        final int followed = changed ? pools.changeView(other.getAsLong(), shown) : code;
        return result(followed == CudaCalls.SUCCESS ? code : followed);
    }

    /** The thread may use another context from now on. */
    final int choose(final IntSupplier call) {
        final int code = ask(call);
        pools.forget();
        if (code == CudaCalls.SUCCESS) {
            pools.prepare();
        }
        return result(code);
    }

    // Streams

    /** Destroys a stream; a capture of it ends with it. */
    final int destroyStream(final @Nullable NativePointerObject stream, final IntSupplier call) {
        pools.captures().ended(handleOf(stream));
        return original(call);
    }

    static long handleOf(final @Nullable NativePointerObject object) {
        return object == null ? 0 : DevicePointers.handle(object);
    }
}
