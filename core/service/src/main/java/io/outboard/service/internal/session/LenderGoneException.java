package io.outboard.service.internal.session;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** This exception says that there is no lender to answer, or that the lender doesn't answer. */
public final class LenderGoneException extends IOException {

    private static final long serialVersionUID = 1L;

    public LenderGoneException(final String message, final @Nullable Throwable cause) {
        super(message, cause);
    }
}
