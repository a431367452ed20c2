package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.outboard.bench.cli.Main;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compiles the Java in README and docs. A block with a {@code main} is a program as it is; any other is the body of a
 * method, where a comment before the block, {@code <!-- with: ... -->}, declares what the page takes for granted. The
 * programs of the tutorial and of the service's page run in the page's order, and print what the block behind each of
 * them shows; those that need a GPU run where there is one.
 */
class SnippetsTest {

    /** The class path has absolute paths, since programs run in a folder of their own. */
    private static final String CLASS_PATH = Stream.of(
                    System.getProperty("java.class.path").split(File.pathSeparator))
            .map(entry -> Path.of(entry).toAbsolutePath())
            .flatMap(SnippetsTest::withNewerClasses)
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));

    private static final Pattern MAIN = Pattern.compile("public class (\\w+)[\\s\\S]*public static void main");
    private static final Pattern NEEDS_GPU =
            Pattern.compile("CudaPool|OutboardRuntime|OutboardDriver|CudaMemorySource");
    private static final Pattern STATEMENT_END = Pattern.compile("(?<=[;}])\\s+");
    private static final String RUN = "run";
    private static final String WITH = "with:";
    private static final String IMPORTS = """
            import io.outboard.core.*;
            import io.outboard.cuda.*;
            import io.outboard.cuda.kernels.*;
            import io.outboard.cuda.driver.*;
            import io.outboard.pool.*;
            import io.outboard.service.*;
            import java.nio.file.*;
            import java.util.*;
            import jcuda.*;
            import jcuda.driver.*;
            import jcuda.runtime.*;
            """;

    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    /** The file manager is shared, so that the class path's jars are read once. */
    private static final StandardJavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

    @TempDir
    private Path folder;

    /** Returns a part of the class path. A folder's classes for newer JDKs come before it, as they do in a jar. */
    private static Stream<Path> withNewerClasses(final Path entry) {
        final Path newer = entry.resolve("META-INF/versions/22");
        return hasLeases() && Files.isDirectory(newer) ? Stream.of(newer, entry) : Stream.of(entry);
    }

    private static boolean hasLeases() {
        return Runtime.version().feature() >= 22
                && System.getProperty("os.name").equals("Linux");
    }

    @AfterAll
    static void close() throws IOException {
        FILES.close();
    }

    /** A snippet is one block of a page, named by where it stands. */
    record Snippet(String where, Page.Block block) {

        @Override
        public String toString() {
            return where;
        }
    }

    static Stream<Snippet> snippets() {
        return Page.all().stream()
                .flatMap(page -> page.blocks().stream()
                        .filter(block -> block.language().equals("java"))
                        .map(block -> new Snippet(page.name() + ":" + block.line(), block)));
    }

    @ParameterizedTest
    @MethodSource("snippets")
    void shouldCompile(final Snippet snippet) throws IOException {
        assertEquals("", compiled(snippet.block()));
    }

    @Test
    void shouldFindWhatDoesNotCompile() throws IOException {
        final String message = compiled(new Page.Block("", "java", "try (Pool pool = CudaPool.open(0)) {}\n", 1));

        assertTrue(message.contains("incompatible types"), message);
    }

    @Test
    void shouldBeInReadmeAndTutorial() {
        assertTrue(snippets()
                        .filter(snippet -> snippet.where().startsWith("README.md"))
                        .count()
                >= 2);
        assertTrue(snippets()
                        .filter(snippet -> snippet.where().startsWith("docs/tutorial.md"))
                        .count()
                >= 7);
    }

    @Test
    void shouldRunTheTutorial() throws IOException, InterruptedException {
        final List<String> ran = runAll("docs/tutorial.md");

        assertTrue(ran.containsAll(List.of("FirstPool", "OutOfMemory", "Inspect", "Record", "replay")), ran::toString);
    }

    @Test
    void shouldRunTheServicesProgram() throws IOException, InterruptedException {
        Assumptions.assumeTrue(hasLeases(), "skipped, leases need Linux and JDK 22 or newer");

        assertEquals(List.of("Share"), runAll("docs/service.md"));
    }

    /** Runs the programs and commands of a page, which must print what the page shows. Returns their names. */
    private List<String> runAll(final String page) throws IOException, InterruptedException {
        final List<Page.Block> blocks = Page.read(page).blocks();
        final List<String> ran = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            final Page.Block block = blocks.get(i);
            final Matcher program = MAIN.matcher(block.body());
            if (block.language().equals("java") && program.find()) {
                final Page.Block shown = blocks.get(i + 1);
                assertEquals("text", shown.language(), "what line " + block.line() + " prints must follow");
                assertEquals("", compiled(block));
                if (!NEEDS_GPU.matcher(block.body()).find() || hasGpu()) {
                    assertEquals(shown.body(), run(List.of(program.group(1))), () -> "line " + shown.line());
                    ran.add(program.group(1));
                }
            } else if (block.note().equals(RUN)) {
                final String command = block.body().strip();
                assertTrue(command.startsWith("./outboard "), command);
                final List<String> words = new ArrayList<>(List.of(Main.class.getName()));
                words.addAll(List.of(command.substring("./outboard ".length()).split(" ")));
                assertTrue(run(words).contains("tlsf"), command);
                ran.add(words.get(1));
            }
        }
        return ran;
    }

    /** The headings above the figures are compared, not the figures. */
    @Test
    void shouldShowInReadmeWhatTheCommandPrints() throws IOException, InterruptedException {
        final List<String> shown = headings(Page.read("README.md").text());
        final List<String> printed =
                headings(run(List.of(Main.class.getName(), "malloc-large", "--ops", "2000", "--device", "none")));

        assertEquals(printed, shown, "README must show what ./outboard malloc-large prints today");
    }

    private static List<String> headings(final String text) {
        final List<String> headings = text.lines()
                .map(line -> line.strip().replaceAll("\\s+", " "))
                .filter(line -> line.startsWith("strategy "))
                .toList();
        assertTrue(!headings.isEmpty(), text);
        return headings;
    }

    private static boolean hasGpu() {
        try {
            CudaMemorySource.open(0).close();
            return true;
        } catch (final CudaUnavailableException e) {
            return false;
        }
    }

    /** Returns the compiler's messages about a block; empty if all is well. */
    private String compiled(final Page.Block block) throws IOException {
        final Matcher program = MAIN.matcher(block.body());
        final boolean isProgram = program.find();
        final Path file = folder.resolve(isProgram ? program.group(1) + ".java" : "Snippet.java");
        Files.writeString(file, isProgram ? block.body() : wrapped(block));
        final StringWriter messages = new StringWriter();
        final boolean done = COMPILER.getTask(
                        messages,
                        FILES,
                        null,
                        List.of("-proc:none", "-nowarn", "-d", folder.toString(), "-cp", CLASS_PATH),
                        null,
                        FILES.getJavaFileObjects(file))
                .call();
        return done ? "" : "does not compile: " + messages;
    }

    private static String wrapped(final Page.Block block) {
        final StringBuilder imports = new StringBuilder(IMPORTS);
        final StringBuilder members = new StringBuilder();
        final StringBuilder body = new StringBuilder();
        final String with = block.note().startsWith(WITH) ? block.note().substring(WITH.length()) : "";
        for (final String statement : STATEMENT_END.splitAsStream(with).toList()) {
            (statement.strip().startsWith("import ") ? imports : members)
                    .append(statement.strip())
                    .append('\n');
        }
        block.body()
                .lines()
                .forEach(line -> (line.startsWith("import ") ? imports : body)
                        .append(line)
                        .append('\n'));
        return imports + "class Snippet {\n" + members + "static void snippet() throws Exception {\n" + body + "}\n}\n";
    }

    /** Returns the output of a program, which must end by itself with exit code 0. */
    private String run(final List<String> mainAndArguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Doutboard.bench.shorter=" + Integer.getInteger("outboard.bench.shorter", 1),
                "-cp",
                folder + File.pathSeparator + CLASS_PATH));
        command.addAll(mainAndArguments);
        final Path out = Files.createTempFile(folder, "out", ".txt");
        final Path err = Files.createTempFile(folder, "err", ".txt");
        final Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        if (!process.waitFor(2, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            fail(mainAndArguments + " takes longer than two minutes");
        }
        assertEquals(0, process.exitValue(), () -> mainAndArguments + ": " + Page.textOf(err));
        return Page.textOf(out);
    }
}
