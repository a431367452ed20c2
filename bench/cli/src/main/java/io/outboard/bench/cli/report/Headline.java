package io.outboard.bench.cli.report;

import java.util.List;

/**
 * A headline says what a reader must know of a folder at once.
 *
 * @param sentence the result in one sentence, plain text
 * @param bars charts of the result, each with its numbers; may be none
 */
public record Headline(String sentence, List<LogBars> bars) {

    /** Copies the list, without empty charts. */
    public Headline {
        bars = bars.stream().filter(bar -> !bar.isEmpty()).toList();
    }
}
