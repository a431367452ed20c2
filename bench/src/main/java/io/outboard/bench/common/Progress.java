package io.outboard.bench.common;

import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * A progress bar on standard error, where that is a terminal; nothing elsewhere. The launcher knows whether it is one:
 * the system property {@code outboard.terminal} is then {@code true}.
 */
public final class Progress implements AutoCloseable {

    private static final int UPDATE_MILLISECONDS = 200;

    private final @Nullable ProgressBar bar;

    /**
     * Nothing done yet.
     *
     * @param steps how many there are
     */
    public Progress(final long steps) {
        bar = Boolean.getBoolean("outboard.terminal")
                ? new ProgressBarBuilder()
                        .setTaskName("measuring")
                        .setInitialMax(steps)
                        .setUpdateIntervalMillis(UPDATE_MILLISECONDS)
                        .setStyle(ProgressBarStyle.ASCII)
                        .clearDisplayOnFinish()
                        .build()
                : null;
    }

    /**
     * Says what is under way from now on.
     *
     * @param what in a word or two
     */
    public void stage(final String what) {
        if (bar != null) {
            bar.setExtraMessage(what);
        }
    }

    /**
     * Goes on.
     *
     * @param steps how many were done
     */
    public void step(final long steps) {
        if (bar != null) {
            bar.stepBy(steps);
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
