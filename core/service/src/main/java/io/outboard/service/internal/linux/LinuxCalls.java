package io.outboard.service.internal.linux;

import java.io.IOException;

/**
 * This class finds the calls of Linux. The version here is for JDK 17 to 21, which have no way to make them; on a newer
 * JDK, the class of the same name in the jar's {@code META-INF/versions/22} takes its place.
 */
public final class LinuxCalls {

    private LinuxCalls() {}

    /** Fails always. */
    @SuppressWarnings("DoNotCallSuggester")
    public static Linux find() throws IOException {
        throw new IOException("leases need JDK 22 or newer, this is " + Runtime.version()
                + (Runtime.version().feature() < 22 ? "" : ", and a jar that such a JDK has built"));
    }
}
