package io.outboard.cuda.internal.facade;

import io.outboard.core.InvalidAddressException;
import io.outboard.cuda.internal.facade.Binding.Place;
import io.outboard.cuda.internal.facade.Binding.Slots;
import io.outboard.cuda.internal.memory.CudaCalls;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.LongToIntFunction;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;
import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * A facade has the code that all functions share which stand in CUDA's place, such as those of {@code OutboardRuntime}
 * and {@code OutboardDriver}, for any {@link Binding}, any pools and any CUDA. Each function calls the facade with the
 * binding's function of the same name, the original. The pool serves ordinary calls. Other calls, and those that the
 * pool can't serve, go to the original with the caller's own arguments, unless a lender has refused the memory. So CUDA
 * decides what happens in corner cases and which code is returned, and the binding throws its own exceptions for a Java
 * null. Safe for any number of threads.
 */
public final class Facade {

    private final ContextPools pools;
    private final Binding binding;
    private final boolean ofRuntime;

    /** This interface is a function that allocates; callers pass a method reference, which captures nothing. */
    public interface Allocation<P> {
        int allocate(P pointer, long sizeBytes);
    }

    /** This interface is a function that allocates, and writes to an address that isn't in an object. */
    public interface SlotAllocation {
        int allocate(long slot, long sizeBytes);
    }

    /** This interface is a function that allocates on a stream. */
    public interface AsyncAllocation<P, S> {
        int allocate(P pointer, long sizeBytes, S stream);
    }

    private Facade(final ContextPools pools, final Binding binding, final boolean ofRuntime) {
        this.pools = pools;
        this.binding = binding;
        this.ofRuntime = ofRuntime;
    }

    /** Makes the runtime's facade, which makes a context where a thread has none, and keeps CUDA's last error. */
    public static Facade ofRuntime(final ContextPools pools, final Binding binding) {
        return new Facade(pools, binding, true);
    }

    public static Facade ofDriver(final ContextPools pools, final Binding binding) {
        return new Facade(pools, binding, false);
    }

    private int ask(final IntSupplier call) {
        return binding.ask(call);
    }

    private int result(final int code) {
        return binding.result(code);
    }

    private @Nullable ContextPool current() {
        return pools.ofThread(ofRuntime);
    }

    // The methods below allocate and free memory.

    public <P> int allocate(
            final P pointer, final Place<? super P> place, final long sizeBytes, final Allocation<P> original) {
        final ContextPool pool = current();
        final boolean taken = pointer != null && place.takes(pointer);
        final long address = pool == null || !taken || sizeBytes <= 0 ? 0 : pool.allocate(sizeBytes);
        if (address > ContextPool.NOT_SERVED) {
            place.set(pointer, address);
            return CudaCalls.SUCCESS;
        }
        return elseByDriver(address, pool, pointer, place, () -> original.allocate(pointer, sizeBytes));
    }

    /** Allocates, and writes the address to native memory, so that the place needs no object. */
    public int allocate(final long slot, final Slots slots, final long sizeBytes, final SlotAllocation original) {
        final ContextPool pool = current();
        final long address = pool == null || slot == 0 || sizeBytes <= 0 ? 0 : pool.allocate(sizeBytes);
        if (address > ContextPool.NOT_SERVED) {
            slots.setAt(slot, address);
            return CudaCalls.SUCCESS;
        }
        return elseByDriver(address, pool, slot, slots, () -> original.allocate(slot, sizeBytes));
    }

    /** Allocates in the stream's context, even if another context is current. */
    public <P, S> int allocateAsync(
            final P pointer,
            final Place<? super P> place,
            final long sizeBytes,
            final S stream,
            final long handle,
            final AsyncAllocation<P, S> original) {
        final ContextPool pool = handle == 0 ? current() : pools.inContext(pools.contextOf(handle));
        final boolean taken = pointer != null && place.takes(pointer);
        final long address =
                pool == null || !taken || stream == null || sizeBytes <= 0 ? 0 : pool.allocateAsync(sizeBytes, handle);
        if (address > ContextPool.NOT_SERVED) {
            place.set(pointer, address);
            return CudaCalls.SUCCESS;
        }
        return elseByDriver(
                address,
                pool == null ? current() : pool,
                pointer,
                place,
                () -> original.allocate(pointer, sizeBytes, stream));
    }

    /**
     * Lets CUDA allocate what the pool hasn't served, unless a lender refused it. If the allocation fails, the pointer
     * becomes null.
     */
    private <P> int elseByDriver(
            final long address,
            final @Nullable ContextPool pool,
            final P pointer,
            final Place<? super P> place,
            final IntSupplier call) {
        int code = cudaError.cudaErrorMemoryAllocation;
        if (address == ContextPool.NOT_SERVED) {
            code = pool == null ? ask(call) : pool.allocateByDriver(ofRuntime, () -> ask(call));
        }
        if (code != CudaCalls.SUCCESS && pointer != null && place.takes(pointer)) {
            // JCuda leaves an arbitrary address of its stack in the pointer.
            place.set(pointer, 0);
        }
        return result(code);
    }

    /** Allocates rows at the driver's pitch for their width. */
    public <P, N> int allocateRows(
            final P pointer,
            final Place<? super P> place,
            final @Nullable N pitch,
            final Place<? super N> pitchPlace,
            final long widthBytes,
            final long rows,
            final IntSupplier original) {
        final ContextPool pool = current();
        final boolean taken = pointer != null && place.takes(pointer);
        if (pool == null || !taken || pitch == null || !pitchPlace.takes(pitch)) {
            return elseByDriver(ContextPool.NOT_SERVED, pool, pointer, place, original);
        }
        final long pitchBytes = pool.pitchOf(widthBytes, rows);
        final long address = pitchBytes == 0 ? ContextPool.NOT_SERVED : pool.allocate(pitchBytes * rows);
        if (address > ContextPool.NOT_SERVED) {
            pitchPlace.set(pitch, pitchBytes);
            place.set(pointer, address);
            return CudaCalls.SUCCESS;
        }
        return elseByDriver(address, pool, pointer, place, original);
    }

    public <P> int free(final P pointer, final Place<? super P> place, final ToIntFunction<P> original) {
        final long address = place.get(pointer);
        final ContextPool owner = pools.owner(address);
        return owner == null ? freeByDriver(address, () -> original.applyAsInt(pointer)) : result(owner.free(address));
    }

    /** Frees memory at an address that isn't in an object. */
    public int free(final long address, final LongToIntFunction original) {
        final ContextPool owner = pools.owner(address);
        return owner == null ? freeByDriver(address, () -> original.applyAsInt(address)) : result(owner.free(address));
    }

    private int freeByDriver(final long address, final IntSupplier call) {
        final int code = ask(call);
        if (ofRuntime && code == CudaCalls.SUCCESS && address == 0) {
            // A free of null is the usual way to make a context, so the context's pool is made, too.
            pools.prepare();
        }
        return result(code);
    }

    public <P, S> int freeAsync(
            final P pointer,
            final Place<? super P> place,
            final S stream,
            final long handle,
            final ToIntBiFunction<P, S> original) {
        final ContextPool owner = owner(pointer, place);
        if (owner == null) {
            return result(ask(() -> original.applyAsInt(pointer, stream)));
        }
        // Each context has a default stream of its own. If the current context is the owner's, CUDA needn't be asked.
        final long home = handle == 0 && current() == owner ? owner.context() : pools.contextOf(handle);
        return result(owner.freeAsync(place.get(pointer), handle, home));
    }

    /** Finds the pool of a pointer's memory; null for the driver's memory, and for null. */
    private <P> @Nullable ContextPool owner(final @Nullable P pointer, final Place<? super P> place) {
        return pools.owner(place.get(pointer));
    }

    /** Adds what the pool has free to what the driver has. */
    public <P> int memoryInfo(final @Nullable P freeBytes, final Place<P> place, final IntSupplier original) {
        final int code = ask(original);
        if (code == CudaCalls.SUCCESS && freeBytes != null && place.takes(freeBytes)) {
            final ContextPool pool = current();
            if (pool != null) {
                place.set(freeBytes, pool.withUnused(place.get(freeBytes)));
            }
        }
        return result(code);
    }

    /** Refuses to share a pool's memory, since a handle would name all of a region. */
    public <P> int shareMemory(
            final @Nullable Object handle, final P pointer, final Place<? super P> place, final IntSupplier original) {
        final boolean refused = handle != null && owner(pointer, place) != null;
        return result(refused ? cudaError.cudaErrorNotSupported : ask(original));
    }

    /** Finds the block, and not the region, of an address in a pool. */
    public <B, N> int addressRange(
            final @Nullable B base,
            final Place<? super B> basePlace,
            final @Nullable N sizeBytes,
            final Place<? super N> sizePlace,
            final long wanted,
            final IntSupplier original) {
        final ContextPool owner = pools.owner(wanted);
        if (owner == null) {
            return result(ask(original));
        }
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
        if (base != null && basePlace.takes(base)) {
            basePlace.set(base, begin[0]);
        }
        if (sizeBytes != null && sizePlace.takes(sizeBytes)) {
            sizePlace.set(sizeBytes, foundBytes);
        }
        return CudaCalls.SUCCESS;
    }

    // The methods below are about streams.

    /** Destroys a stream, and with it its capture. */
    public int destroyStream(final long stream, final IntSupplier original) {
        pools.captures().ended(stream);
        return result(ask(original));
    }

    public int beginCapture(final long stream, final IntSupplier original) {
        // The capture is announced before the call, so that no other thread synchronises in between.
        final boolean begun = pools.captures().begin(stream, pools.contextOf(stream));
        boolean done = false;
        try {
            final int code = ask(original);
            done = code == CudaCalls.SUCCESS;
            return result(code);
        } finally {
            // A binding may throw.
            if (begun && !done) {
                pools.captures().ended(stream);
            }
        }
    }

    public int endCapture(final long stream, final IntSupplier original) {
        final int code = ask(original);
        if (code != CUresult.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
            pools.captures().ended(stream);
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

    /** Makes a call that makes a context, whose handle is known afterwards. */
    public int make(final LongSupplier made, final IntSupplier original) {
        return choose(() -> pools.exclusively(() -> {
            final int code = ask(original);
            if (code == CudaCalls.SUCCESS) {
                pools.contextMade(made.getAsLong());
            }
            return code;
        }));
    }

    /**
     * Makes a call that may end a context. A successful call has ended it if {@code surely}, and otherwise only if the
     * context isn't current afterwards.
     */
    public int end(final long context, final boolean surely, final IntSupplier original) {
        final int code = pools.exclusively(() -> pools.end(context, () -> {
            final int answer = ask(original);
            if (answer == CudaCalls.SUCCESS && (surely || !pools.isCurrent(context))) {
                pools.contextEnded(context);
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
    public int endPrimary(final int device, final boolean surely, final IntSupplier original) {
        return result(pools.exclusively(() -> pools.endPrimary(device, surely, () -> ask(original))));
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
    public int changeViewOfDevice(final boolean shown, final int peer, final IntSupplier original) {
        return changeView(shown, () -> pools.primaryOf(peer), original);
    }

    /** Does the same for another context's memory. */
    public int changeView(final boolean shown, final long peer, final IntSupplier original) {
        return changeView(shown, () -> peer, original);
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
}
