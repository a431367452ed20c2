package io.outboard.pool;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where a buffer was allocated: a stack, taken without decoding it, which most are never asked for. Never thrown. */
final class AllocationSite extends Throwable {

    private static final long serialVersionUID = 1L;

    private static final Set<String> OWN = Set.of(
            AllocationSite.class.getName(),
            LeakTracker.class.getName(),
            DeviceBuffer.class.getName(),
            Pool.class.getName());

    AllocationSite() {
        super("allocated here");
    }

    /** The innermost call that isn't the pool's own, as a stack trace shows it; null if there is none. */
    @Nullable
    String caller() {
        for (final StackTraceElement element : getStackTrace()) {
            if (!OWN.contains(element.getClassName())) {
                return element.toString();
            }
        }
        return null;
    }
}
