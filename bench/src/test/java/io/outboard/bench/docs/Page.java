package io.outboard.bench.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page is a file in Markdown, read as far as the tests need.
 *
 * @param name path in the project, such as {@code docs/tutorial.md}
 * @param text as it stands in the file
 */
record Page(String name, String text) {

    /** The project's folder, as seen from the module's folder, where tests run. */
    static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    private static final Pattern FENCED = Pattern.compile(
            "(?:<!--(?<note>(?:(?!-->)[\\s\\S])*)-->\\n+)?^(?<fence>```+)(?<language>\\w*)\\n(?<body>[\\s\\S]*?)^\\k<fence>$",
            Pattern.MULTILINE);

    private static final Pattern INLINE = Pattern.compile("`([^`\\n]+(?:\\n[^`\\n]+)?)`");
    private static final Pattern LINK = Pattern.compile("(!?)\\[[^\\]\\[]*]\\(([^)\\s]+)\\)");

    /**
     * A block stands between fences.
     *
     * @param note what a comment just before it says, or nothing
     * @param language what stands behind the fence
     * @param body its lines
     * @param line the line of the page on which the body starts, from 1
     */
    record Block(String note, String language, String body, int line) {}

    /**
     * Returns what a newcomer reads: README, CONTRIBUTING and the pages of docs. The change log isn't included, since
     * it has names that no longer exist.
     */
    static List<Page> all() {
        final List<Page> pages = new ArrayList<>(List.of(read("README.md"), read("CONTRIBUTING.md")));
        try (Stream<Path> files = Files.list(PROJECT.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .forEach(file -> pages.add(read("docs/" + file.getFileName())));
        } catch (final IOException e) {
            throw new AssertionError("docs can't be listed", e);
        }
        return pages;
    }

    /** Returns all pages, and those of the folders of results. */
    static List<Page> allAndResults() {
        final List<Page> pages = new ArrayList<>(all());
        try (Stream<Path> files = Files.walk(PROJECT.resolve("bench/results"), 2)) {
            files.filter(file -> file.endsWith("README.md"))
                    .sorted()
                    .forEach(file -> pages.add(read(PROJECT.relativize(file).toString())));
        } catch (final IOException e) {
            throw new AssertionError("results can't be listed", e);
        }
        return pages;
    }

    static Page read(final String name) {
        return new Page(name, textOf(PROJECT.resolve(name)));
    }

    static String textOf(final Path file) {
        try {
            return Files.readString(file);
        } catch (final IOException e) {
            throw new AssertionError(file + " can't be read", e);
        }
    }

    List<Block> blocks() {
        final List<Block> blocks = new ArrayList<>();
        final Matcher matcher = FENCED.matcher(text);
        while (matcher.find()) {
            final String note = matcher.group("note");
            final int line = lineAt(matcher.start("body"));
            blocks.add(new Block(
                    note == null ? "" : note.strip(), matcher.group("language"), matcher.group("body"), line));
        }
        return blocks;
    }

    /**
     * Returns the page in its full length, with blanks where code is: fenced, or indented by four behind an empty line.
     */
    String prose() {
        final StringBuilder prose = new StringBuilder(text);
        final Matcher matcher = FENCED.matcher(text);
        while (matcher.find()) {
            blank(prose, matcher.start(), matcher.end());
        }
        for (final int[] range : indented(prose.toString())) {
            blank(prose, range[0], range[1]);
        }
        return prose.toString();
    }

    /** Returns code within sentences: what stands between single backquotes. */
    List<String> inlineCode() {
        final Matcher matcher = INLINE.matcher(prose());
        return matcher.results()
                .map(found -> found.group(1).replaceAll("\\s+", " "))
                .toList();
    }

    /** Returns lines of code that aren't Java, of fenced and indented blocks. */
    List<String> commandLines() {
        final StringBuilder lines = new StringBuilder();
        blocks().stream()
                .filter(block -> block.language().isEmpty() || block.language().equals("sh"))
                .forEach(block -> lines.append(block.body()));
        final Matcher matcher = FENCED.matcher(text);
        final String rest = matcher.replaceAll("");
        indented(rest).forEach(range -> lines.append(rest, range[0], range[1]));
        return lines.toString().replace("\\\n", " ").lines().map(String::strip).toList();
    }

    /** Returns the targets of links, without those of pictures. */
    List<String> links() {
        return LINK.matcher(prose())
                .results()
                .filter(link -> link.group(1).isEmpty())
                .map(link -> link.group(2))
                .toList();
    }

    int lineAt(final int position) {
        return 1
                + (int) text.substring(0, position)
                        .chars()
                        .filter(c -> c == '\n')
                        .count();
    }

    private static List<int[]> indented(final String text) {
        final List<int[]> ranges = new ArrayList<>();
        boolean codeMayStart = true;
        int start = 0;
        for (final String line : text.split("(?<=\n)", -1)) {
            final boolean isCode = line.startsWith("    ") && !line.isBlank();
            if (isCode && codeMayStart) {
                ranges.add(new int[] {start, start + line.length()});
            }
            codeMayStart = line.isBlank() || (isCode && codeMayStart);
            start += line.length();
        }
        return ranges;
    }

    private static void blank(final StringBuilder text, final int from, final int to) {
        for (int i = from; i < to; i++) {
            if (text.charAt(i) != '\n') {
                text.setCharAt(i, ' ');
            }
        }
    }
}
