package io.outboard.service.internal.session;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** There is no lender to answer, or it doesn't. */
public final class LenderGoneException extends IOException {

    private static final long serialVersionUID = 1L;

    public LenderGoneException(final String message, final @Nullable Throwable cause) {
        super(message, cause);
    }
}
