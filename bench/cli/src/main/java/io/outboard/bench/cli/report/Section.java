package io.outboard.bench.cli.report;

import java.io.IOException;
import java.util.Optional;

/** A section is an independent part of the page, made from files of the folder that no other section shows. */
public interface Section {

    /** Returns the title in the table of contents, plain text. */
    String title();

    /**
     * Returns the content below the heading.
     *
     * @return HTML
     * @throws IllegalArgumentException if a file breaks a rule; names file, line and rule
     * @throws IOException if a file cannot be read
     */
    String html() throws IOException;

    /**
     * Returns a summary of the section. The head of the page shows the summary of the first section that has one.
     *
     * @return nothing if the section can't be summarised in a sentence
     * @throws IllegalArgumentException as {@link #html}
     * @throws IOException as {@link #html}
     */
    default Optional<Headline> headline() throws IOException {
        return Optional.empty();
    }
}
