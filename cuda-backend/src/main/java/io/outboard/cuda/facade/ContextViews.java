package io.outboard.cuda.facade;

import io.outboard.cuda.memory.CudaFailureException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which contexts' work reads and writes the memory of another's pool, as programs have it with CUDA: access is a device's.
 *
 * <p>External lock required: the monitor of {@link ContextPools}.
 */
final class ContextViews {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    private final ContextPools pools;

    /** By context, those that see its pool's memory, and their devices. */
    private final Map<Long, Map<Long, Integer>> viewers = new HashMap<>();

    ContextViews(final ContextPools pools) {
        this.pools = pools;
    }

    /** Who sees the context sees this new pool of it. */
    void showTo(final ContextPool added) {
        viewers.getOrDefault(added.context(), Map.of()).forEach(added::show);
    }

    /**
     * A context sees another's memory from now on, or not any more.
     *
     * @throws CudaFailureException if the driver fails
     */
    void change(final long context, final long viewer, final int device, final boolean shown) {
        final Map<Long, Integer> all = viewers.computeIfAbsent(context, key -> new HashMap<>());
        if (shown) {
            final ContextPool pool = pools.inContext(context);
            if (pool != null) {
                pool.show(viewer, device);
            }
            all.put(viewer, device);
        } else {
            all.remove(viewer);
            hideUnlessSeen(context, device);
        }
    }

    /** The context is gone: it sees nothing any more, and has nothing to be seen. */
    void forget(final long gone) {
        viewers.remove(gone);
        viewers.forEach((context, all) -> {
            final Integer device = all.remove(gone);
            try {
                hideUnlessSeen(context, device);
            } catch (final CudaFailureException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "memory is still shown to a device that needs it no more", e);
            }
        });
    }

    /** Access is a device's, so as long as one of its contexts has it, all have. */
    private void hideUnlessSeen(final long context, final @Nullable Integer device) {
        final ContextPool pool = pools.inContext(context);
        if (pool != null
                && device != null
                && !viewers.getOrDefault(context, Map.of()).containsValue(device)) {
            pool.hide(device);
        }
    }
}
