package io.outboard.bench;

import io.outboard.bench.common.WrongUseException;
import io.outboard.bench.trace.Profiles;
import io.outboard.bench.trace.Trace;
import picocli.CommandLine.Option;

/** Options of commands that measure a generated trace. */
final class ProfileOptions {

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            defaultValue = "paper",
            description =
                    "mimalloc, paper, large, mid, small or pingpong; for pool also own, pairs, larson or xmalloc, of"
                            + " several threads. Default: ${DEFAULT-VALUE}.")
    private String profile = "paper";

    @Option(
            names = "--ops",
            paramLabel = "N",
            defaultValue = "" + Profiles.DEFAULT_OPERATIONS,
            description = "Allocations and frees, together. Default: ${DEFAULT-VALUE}.")
    private int operations;

    @Option(
            names = "--scale",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many times as many blocks large, mid and small have live. Default: ${DEFAULT-VALUE}.")
    private int scale;

    String name() {
        return profile;
    }

    /** Refuses what isn't a trace's name, and a number of operations that can't be. */
    void checkTraceName() {
        if (!Profiles.names().contains(profile)) {
            throw new WrongUseException(
                    "--profile=" + profile + " must be one of: " + String.join(", ", Profiles.names()));
        }
    }

    int operations() {
        return operations;
    }

    int scale() {
        return scale;
    }

    /** The trace that is asked for. */
    Trace trace() {
        try {
            return Profiles.variant(profile, operations, 0, scale);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(("--" + e.getMessage()).replace("--operations=", "--ops="));
        }
    }
}
