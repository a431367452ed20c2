package io.outboard.bench.cli.report;

import java.io.IOException;
import java.util.Optional;

/** A part of the page that stands for itself: what it shows comes from its own files of the folder. */
public interface Section {

    /** What the table of contents calls it; plain text. */
    String title();

    /**
     * The part's content below its heading.
     *
     * @return HTML
     * @throws IllegalArgumentException if a file breaks a rule; names file, line and rule
     * @throws IOException if a file cannot be read
     */
    String html() throws IOException;

    /**
     * What it comes to, for the head of a page that it is the first to say that of.
     *
     * @return nothing if that can't be said in a sentence
     * @throws IllegalArgumentException as {@link #html}
     * @throws IOException as {@link #html}
     */
    default Optional<Headline> headline() throws IOException {
        return Optional.empty();
    }
}
