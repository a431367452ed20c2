package io.outboard.service.internal.linux;

import java.io.IOException;

/**
 * Finds the calls of Linux. This class is for JDK 17 to 21, which have no way to make them; on a newer one the class of
 * the same name in the jar's {@code META-INF/versions/22} takes its place.
 */
public final class LinuxCalls {

    private LinuxCalls() {}

    /** Refuses. */
    @SuppressWarnings("DoNotCallSuggester")
    public static Linux find() throws IOException {
        throw new IOException("leases need JDK 22 or newer, this is " + Runtime.version()
                + (Runtime.version().feature() < 22 ? "" : ", and a jar that such a JDK has built"));
    }
}
