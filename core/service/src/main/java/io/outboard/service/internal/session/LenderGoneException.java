package io.outboard.service.internal.session;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A lender is gone if there is none to answer, or it doesn't answer. */
public final class LenderGoneException extends IOException {

    private static final long serialVersionUID = 1L;

    public LenderGoneException(final String message, final @Nullable Throwable cause) {
        super(message, cause);
    }
}
