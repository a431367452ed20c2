package io.outboard.bench.cli.report;

import java.io.IOException;

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
}
