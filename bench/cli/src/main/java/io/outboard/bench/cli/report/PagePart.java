package io.outboard.bench.cli.report;

import java.util.List;
import java.util.function.Function;

/**
 * A page part shows one file of results, if the folder has that file.
 *
 * @param fileName name of the file in the folder, which has one JSON object a line
 * @param sections makes the sections, in the order of the page; none if the file has nothing to show
 */
public record PagePart(String fileName, Function<ResultFolder, List<Section>> sections) {

    /** Makes a part of one section. */
    public static PagePart of(final String fileName, final Function<ResultFolder, Section> section) {
        return new PagePart(fileName, folder -> List.of(section.apply(folder)));
    }
}
