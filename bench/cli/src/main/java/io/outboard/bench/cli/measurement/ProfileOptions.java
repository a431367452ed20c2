package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.DidYouMean;
import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** These are the options of commands that measure a generated trace. */
public final class ProfileOptions {

    private static final int MOST_SEEDS = 64;

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            defaultValue = "paper",
            completionCandidates = Names.class,
            description =
                    "mimalloc, paper, large, mid, small or pingpong; as an adversary would have it, fragmenting, sawtooth,"
                            + " two-sizes, list-borders or equal-hashes; for pool also own, pairs, larson or xmalloc, of"
                            + " several threads. Default: ${DEFAULT-VALUE}.")
    private String profile = "paper";

    @Option(
            names = "--ops",
            paramLabel = "N",
            defaultValue = "" + Profiles.DEFAULT_OPERATIONS,
            converter = OptionValue.WholeInt.class,
            description = "Allocations and frees, together, such as 1000000 or 1e6. Default: ${DEFAULT-VALUE}.")
    private int operations;

    @Option(
            names = "--scale",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many times as many blocks large, mid and small have live. Default: ${DEFAULT-VALUE}.")
    private int scale;

    @Option(
            names = "--seeds",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "With --region=smallest and a random profile: how many seeds to look with, at most 64. More than one"
                            + " measures no time, but the smallest region that serves and the largest that doesn't, on average and at worst."
                            + " Default: ${DEFAULT-VALUE}.")
    private int seeds;

    /** Returns the number of requested traces of one profile, checked. */
    public int seeds(final boolean smallestRegion) {
        if (seeds < 1 || seeds > MOST_SEEDS) {
            throw new WrongUseException("--seeds=" + seeds + " must be >= 1 and <= " + MOST_SEEDS);
        }
        if (seeds > 1 && !smallestRegion) {
            throw new WrongUseException("--seeds=" + seeds + " must be 1 unless --region=smallest is given");
        }
        return seeds;
    }

    public String name() {
        return profile;
    }

    /** Refuses a name that no trace has. */
    public void checkTraceName() {
        final List<String> names = Profiles.names();
        if (!names.contains(profile)) {
            throw new WrongUseException("--profile=" + profile + " must be one of: " + String.join(", ", names)
                    + DidYouMean.of(profile, names));
        }
    }

    /** This list has the values that a shell offers as completions. */
    static final class Names implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            return Stream.concat(Profiles.names().stream(), ThreadProfile.names().stream())
                    .iterator();
        }
    }

    public int operations() {
        return operations;
    }

    public int scale() {
        return scale;
    }

    /** Generates the requested trace. */
    public Trace trace() {
        return trace(0);
    }

    /** Generates the requested trace with another seed, given by its number. */
    public Trace trace(final int seed) {
        return trace(seed, operations);
    }

    /** Generates the requested trace, or its beginning. */
    public Trace traceOfAtMost(final int most) {
        return trace(0, Math.min(operations, most));
    }

    private Trace trace(final int seed, final int count) {
        checkTraceName();
        try {
            return Profiles.variant(profile, count, seed, scale);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(("--" + e.getMessage()).replace("--operations=", "--ops="));
        }
    }
}
