package io.outboard.bench.cli.report;

import java.util.List;

/**
 * What a reader must know of a folder at once.
 *
 * @param sentence the result in one sentence, plain text
 * @param bars pictures of it, each with its numbers; may be none
 */
public record Headline(String sentence, List<LogBars> bars) {

    /** Copies. */
    public Headline {
        bars = bars.stream().filter(bar -> !bar.isEmpty()).toList();
    }
}
