package io.outboard.service;

import java.io.IOException;
import java.nio.file.Path;

/** Another lender runs in a process of its own, which ends at once. */
final class OtherLender {

    private OtherLender() {}

    /** Starts a lender at the socket that the argument names. Prints {@code started}, or why it couldn't. */
    public static void main(final String[] arguments) throws IOException {
        try (Lender lender =
                Lender.of(LendingDevice.memory(MemoryDevice.UNIT_BYTES)).start(Path.of(arguments[0]))) {
            System.out.println("started " + lender.socket());
        } catch (final IOException e) {
            System.out.println(e.getMessage());
        }
    }
}
