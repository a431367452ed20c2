package io.outboard.pool.internal.guard;

import org.jspecify.annotations.Nullable;

/** This class makes attempts, all of them whichever fails, and keeps what they failed with. Confined to one thread. */
public final class Failures {

    private @Nullable Throwable first;

    public void attempt(final Runnable action) {
        try {
            action.run();
        } catch (final RuntimeException | Error e) {
            if (first == null) {
                first = e;
            } else if (first != e) {
                first.addSuppressed(e);
            }
        }
    }

    /** Throws the first failure, if any, which has the others suppressed. */
    public void rethrow() {
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
