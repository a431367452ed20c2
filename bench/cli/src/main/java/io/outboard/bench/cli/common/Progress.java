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
 * A progress bar on standard error, where that is a terminal; nothing elsewhere. The launcher knows whether it is one:
 * the system property {@code outboard.terminal} is then {@code true}.
 *
 * <p>Steps take unequal time, so what counts is work: operations, or whatever else takes about as long each time. The
 * time left is what the rest of the work takes at the speed so far. A search isn't work, since nobody knows beforehand
 * how long it takes: it counts as long as those before it did, and while there were none, no time is promised. Safe for
 * any number of threads.
 */
public final class Progress implements AutoCloseable {

    /** Work in a second of a strategy's operations, more or less: for steps that take so many seconds. */
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
     * Nothing done yet.
     *
     * @param work how much there is
     */
    public Progress(final long work) {
        this(work, 0);
    }

    /**
     * The same with searches.
     *
     * @param work how much there is beside them
     * @param searches how many there are
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
        // Continuously: a step may take minutes, and the time goes on meanwhile.
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
     * Says what is being measured from now on.
     *
     * @param what a strategy, say
     */
    public synchronized void stage(final String what) {
        subject = what;
        step = "";
    }

    /**
     * Says what is done with it.
     *
     * @param what in a few words, such as {@code pass 2 of 5: warm-up}
     */
    public synchronized void pass(final String what) {
        step = what;
    }

    /**
     * Goes on.
     *
     * @param amount work that was done
     */
    public synchronized void step(final long amount) {
        done += amount;
    }

    /** A search begins. */
    public synchronized void beginSearch() {
        searching = true;
        searchStarted = clock.getAsLong();
    }

    /** It ends. */
    public synchronized void endSearch() {
        searching = false;
        searched++;
        searchingNs += clock.getAsLong() - searchStarted;
    }

    /** How long the rest takes, if anybody can say. */
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

    /** What the terminal shows. */
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

    /** Before a line of results is printed on the same terminal; the bar comes again below it. */
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
