package io.outboard.bench.cli.report;

import java.util.List;
import java.util.function.Function;

/**
 * What a page shows of one file of results, if the folder has it.
 *
 * @param fileName its name in the folder: one JSON object a line
 * @param sections makes the sections, in the order of the page; one at least
 */
public record PagePart(String fileName, Function<ResultFolder, List<Section>> sections) {

    /** A part of one section. */
    public static PagePart of(final String fileName, final Function<ResultFolder, Section> section) {
        return new PagePart(fileName, folder -> List.of(section.apply(folder)));
    }
}
