package io.outboard.service;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** There is no lender to answer, or it doesn't. */
final class LenderGoneException extends IOException {

    private static final long serialVersionUID = 1L;

    LenderGoneException(final String message, final @Nullable Throwable cause) {
        super(message, cause);
    }
}
