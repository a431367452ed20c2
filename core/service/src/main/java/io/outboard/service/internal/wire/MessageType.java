package io.outboard.service.internal.wire;

import org.jspecify.annotations.Nullable;

/**
 * A message type says what a message means; see {@code docs/service-protocol.md}. A number never gets another meaning.
 */
public enum MessageType {
    // Clients send these types.
    HELLO(1),
    HELD(2),
    LEASE(3),
    RETURN(4),
    EASED(5),
    USAGE(6),
    LIST(7),
    SHARE(8),
    OPEN(9),

    // The lender sends these types.
    WELCOME(65),
    LEASED(66),
    HOLDER(67),
    REFUSED(68),
    RETURNED(69),
    PRESS(70),
    CLIENT(71),
    LIMITS(72),
    LISTED(73),
    OPENED(74);

    private final int code;

    MessageType(final int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static @Nullable MessageType of(final int code) {
        for (final MessageType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        return null;
    }
}
