package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * This section shows what results of other commands are of papers, for a folder of which {@link PaperCommand} made no
 * values.
 */
public final class ComposedSection implements Section {

    private final Map<String, PaperTable> tables;

    private ComposedSection(final Map<String, PaperTable> tables) {
        this.tables = tables;
    }

    /**
     * Returns a part for each of some files. A folder that has several of them has the section once, and not at all if
     * nothing in it is of a paper.
     *
     * @param files of results that papers' outputs are made of
     * @return a part for each
     */
    public static List<PagePart> parts(final List<String> files) {
        final List<PagePart> parts = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            final List<String> before = files.subList(0, i);
            parts.add(new PagePart(
                    files.get(i),
                    folder -> folder.contains(PaperSection.FILE_NAME)
                                    || before.stream().anyMatch(folder::contains)
                            ? List.of()
                            : sections(folder)));
        }
        return List.copyOf(parts);
    }

    private static List<Section> sections(final ResultFolder folder) {
        final Path file = Path.of(folder.path(PaperSection.FILE_NAME)).toAbsolutePath();
        final PaperResults results = new PaperResults(Objects.requireNonNull(file.getParent()), null);
        final Map<String, PaperTable> tables = new LinkedHashMap<>();
        for (final Paper paper : Paper.all()) {
            for (final PaperOutput output : paper.outputs()) {
                try {
                    final PaperTable table = output.composer().compose(results);
                    if (table.hasOurs()) {
                        tables.put(output.name(), table);
                    }
                } catch (final IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return tables.isEmpty() ? List.of() : List.of(new ComposedSection(tables));
    }

    @Override
    public String title() {
        return PaperSection.TITLE;
    }

    @Override
    public String html() {
        return PaperSection.html(tables, Map.of());
    }
}
