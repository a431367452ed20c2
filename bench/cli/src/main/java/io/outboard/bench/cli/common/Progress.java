package io.outboard.bench.cli.common;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressState;
import org.jspecify.annotations.Nullable;

/**
 * This class shows a progress bar on standard error if that is a terminal, and nothing elsewhere. The launcher knows
 * whether it is a terminal, and then sets the system property {@code outboard.terminal} to {@code true}.
 *
 * <p>Steps take unequal time, so the bar counts work: operations, or another unit that takes about equally long each
 * time. The time left is computed from the rest of the work and the speed so far. A search isn't counted as work,
 * because its duration isn't known beforehand. Each search is expected to take the mean time of the searches before it;
 * until one has ended, no time left is shown. Safe for any number of threads.
 */
public final class Progress implements AutoCloseable {

    /**
     * The work of one second, about as many operations as a strategy does; for steps that last a known number of
     * seconds.
     */
    public static final long SECOND = 20_000_000;

    private static final int UPDATE_MILLISECONDS = 200;
    private static final int BAR_LENGTH = 10;
    private static final int NS_A_SECOND = 1_000_000_000;

    private final long work;
    private final int searches;
    private final LongSupplier clock;
    private final long started;
    private long done;
    private int searched;
    private long searchingNs;
    private long searchStarted;
    private boolean searching;
    private String subject = "";
    private String step = "";
    private final @Nullable ProgressBar bar;

    /**
     * Makes a bar with nothing done yet.
     *
     * @param work how much there is to do
     */
    public Progress(final long work) {
        this(work, 0);
    }

    /**
     * Makes a bar for work and searches.
     *
     * @param work how much there is to do besides the searches
     * @param searches number of searches
     */
    public Progress(final long work, final int searches) {
        this(work, searches, System::nanoTime, isTerminal() ? new ProgressBarBuilder() : null);
    }

    Progress(
            final long work, final int searches, final LongSupplier clock, final @Nullable ProgressBarBuilder builder) {
        this.work = work;
        this.searches = searches;
        this.clock = clock;
        started = clock.getAsLong();
        // The bar updates continuously: a step may take minutes, and the time shown must go on meanwhile.
        bar = builder == null
                ? null
                : builder.setInitialMax(work)
                        .setUpdateIntervalMillis(UPDATE_MILLISECONDS)
                        .continuousUpdate()
                        .setRenderer(this::render)
                        .clearDisplayOnFinish()
                        .build();
    }

    /**
     * Shows what is being measured from now on.
     *
     * @param what for example a strategy
     */
    public synchronized void stage(final String what) {
        subject = what;
        step = "";
    }

    /**
     * Shows which step of the measurement runs now.
     *
     * @param what in a few words, such as {@code pass 2 of 5: warm-up}
     */
    public synchronized void pass(final String what) {
        step = what;
    }

    /**
     * Adds work that was done.
     *
     * @param amount of work
     */
    public synchronized void step(final long amount) {
        done += amount;
    }

    /** Starts the time of a search. */
    public synchronized void beginSearch() {
        searching = true;
        searchStarted = clock.getAsLong();
    }

    /** Ends the time of a search. */
    public synchronized void endSearch() {
        searching = false;
        searched++;
        searchingNs += clock.getAsLong() - searchStarted;
    }

    /** Tells how long the rest takes; empty if that can't be estimated yet. */
    synchronized Optional<Duration> left() {
        final long now = clock.getAsLong();
        final long searchNs = searchingNs + (searching ? now - searchStarted : 0);
        final int searchesLeft = searches - searched;
        if ((searchesLeft > 0 && searched == 0) || (done == 0 && work > 0)) {
            return Optional.empty();
        }
        final double workNs = work == 0 ? 0 : (double) (now - started - searchNs) / done * Math.max(0, work - done);
        final double oneNs = searched == 0 ? 0 : (double) searchingNs / searched;
        final double begunNs = searching ? Math.min(oneNs, (double) (now - searchStarted)) : 0;
        return Optional.of(Duration.ofNanos((long) (workNs + oneNs * searchesLeft - begunNs)));
    }

    private synchronized String render(final ProgressState state, final int mostLength) {
        return line(mostLength);
    }

    /** Renders the line that the terminal shows. */
    synchronized String line(final int mostLength) {
        final double part = work == 0 ? 0 : Math.min(1, (double) done / work);
        final int full = (int) (part * BAR_LENGTH);
        final String text = String.format(
                Locale.ROOT,
                "[%s%s] %3.0f %% in %s, %s left  %s",
                "=".repeat(full),
                " ".repeat(BAR_LENGTH - full),
                part * 100,
                clockText(Duration.ofNanos(clock.getAsLong() - started)),
                left().map(Progress::clockText).orElse("?"),
                step.isEmpty() ? subject : subject + ", " + step);
        return text.substring(0, Math.min(text.length(), Math.max(0, mostLength)));
    }

    private static String clockText(final Duration time) {
        final long seconds = time.plusNanos(NS_A_SECOND / 2).toSeconds();
        return seconds < 3600
                ? String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }

    private static boolean isTerminal() {
        return Boolean.getBoolean("outboard.terminal");
    }

    /**
     * Clears the bar before a line of results is printed on the same terminal. The bar appears again below that line.
     */
    public static void makeRoom() {
        if (isTerminal()) {
            System.err.print("\r" + " ".repeat(TextTable.terminalColumns() - 1) + "\r");
            System.err.flush();
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
