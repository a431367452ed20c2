package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.measure.threads.ThreadBench;
import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** The class implements the bench among the classes that a pass loads for itself. Confined to one thread. */
public final class IsolatedThreadBench implements ThreadBench {

    private static final int ROUNDS = 3;

    /**
     * The rounds that warm up, which are more than those that are measured: the compiler shares the cores with what is
     * measured, and code that isn't finally compiled counts its calls at an address to which all threads write. Each
     * round's end makes the compiler compile some methods once more.
     */
    private static final int WARM_ROUNDS = 5;

    /** The number of blocks that are checked, unless that takes too many rounds. */
    private static final long CHECKED_BLOCKS = 20_000;

    private static final int MOST_CHECKING_ROUNDS = 10;

    private final ThreadSettings settings;
    private final Supply supply;

    /**
     * Opens the memory.
     *
     * @param settings what to do
     */
    public IsolatedThreadBench(final ThreadSettings settings) {
        this(settings, Supply.open(settings));
    }

    IsolatedThreadBench(final ThreadSettings settings, final Supply supply) {
        this.settings = settings;
        this.supply = supply;
    }

    private Crew crew(final UnaryOperator<Blocks> wrapper) {
        final Launchers launchers = new Launchers(settings.device(), settings.launchers());
        return new Crew(supply, workload(settings), settings.others(), launchers, wrapper);
    }

    private void warmUp(final Crew crew) throws InterruptedException {
        for (int i = 0; i < WARM_ROUNDS; i++) {
            crew.run(settings.roundMillis(), () -> {});
        }
    }

    @Override
    public Speed speed() throws InterruptedException {
        try (supply;
                Crew crew = crew(blocks -> blocks)) {
            warmUp(crew);
            final double[] rates = new double[ROUNDS];
            final long[] peaks = new long[2];
            final double[] cpuNs = new double[ROUNDS];
            double garbage = 0;
            long operations = 0;
            final long marks = supply.synchronizations();
            for (int i = 0; i < ROUNDS; i++) {
                final Crew.Outcome outcome = crew.run(settings.roundMillis(), () -> {
                    peaks[0] = Math.max(peaks[0], supply.heldBytes());
                    peaks[1] = Math.max(peaks[1], supply.limboBytes());
                });
                rates[i] = outcome.opsPerSecond();
                cpuNs[i] = outcome.cpuNsPerOp();
                garbage += outcome.gcBytesPerOp() / ROUNDS;
                operations += outcome.operations();
            }
            Arrays.sort(rates);
            Arrays.sort(cpuNs);
            final Speed speed = new Speed(
                    rates[ROUNDS / 2],
                    cpuNs[ROUNDS / 2],
                    garbage,
                    supply.heldBytes(),
                    peaks[0],
                    peaks[1],
                    (double) (supply.synchronizations() - marks) / operations);
            crew.freeAll();
            return speed;
        }
    }

    @Override
    public Clocked clocked() throws InterruptedException {
        final long clockNs = Latencies.measureClock();
        final List<Latencies> allocations = new ArrayList<>();
        final List<Latencies> frees = new ArrayList<>();
        try (supply;
                Crew crew = crew(blocks -> {
                    final Latencies allocate = new Latencies(clockNs);
                    final Latencies free = new Latencies(clockNs);
                    synchronized (allocations) {
                        allocations.add(allocate);
                        frees.add(free);
                    }
                    return new ClockedBlocks(blocks, allocate, free);
                })) {
            warmUp(crew);
            // Nobody records between rounds, so the histograms can be reset.
            allocations.forEach(latencies -> latencies.histogram().reset());
            frees.forEach(latencies -> latencies.histogram().reset());
            crew.run(ROUNDS * settings.roundMillis(), () -> {});
            final Latencies allocate = new Latencies(clockNs);
            final Latencies free = new Latencies(clockNs);
            allocations.forEach(allocate::add);
            frees.forEach(free::add);
            crew.freeAll();
            return new Clocked(allocate, free);
        }
    }

    @Override
    public Checked checked() throws InterruptedException {
        final Shadow shadow = new Shadow();
        try (supply;
                Crew crew = crew(blocks -> new CheckedBlocks(blocks, shadow))) {
            for (int i = 0; i < MOST_CHECKING_ROUNDS && shadow.blocks() < CHECKED_BLOCKS; i++) {
                crew.run(settings.roundMillis(), () -> {});
            }
            crew.freeAll();
            return new Checked(shadow.blocks(), shadow.peakLiveBytes());
        }
    }

    private static Workload workload(final ThreadSettings settings) {
        return switch (settings.profile()) {
            case OWN -> new OwnWorkload(settings);
            case PAIRS -> new PairsWorkload(settings);
            case LARSON -> new LarsonWorkload(settings);
            case XMALLOC -> new BatchWorkload(settings);
        };
    }
}
