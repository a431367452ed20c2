package io.outboard.cuda.agent;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/** The class describes a Java virtual machine, and starts one for each run. */
final class Jvm {

    private static final int MOST_SECONDS = 120;
    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";

    /** The outcome says how the virtual machine ended. */
    record Outcome(int exitCode, List<String> out, List<String> err) {}

    private final List<String> options = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-ea",
            "-Xmx512m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            NATIVE_ACCESS,
            "-Djava.library.path=" + System.getProperty("java.library.path", "")));
    private final Path folder;
    private @Nullable Path libraries;

    /**
     * Describes a virtual machine.
     *
     * @param folder an empty one, for its output
     */
    Jvm(final Path folder) {
        this.folder = folder;
    }

    Jvm option(final String option) {
        options.add(option);
        return this;
    }

    Jvm withoutNativeAccess() {
        options.remove(NATIVE_ACCESS);
        return this;
    }

    Jvm classPath(final List<Path> paths) {
        return option("-cp").option(join(paths));
    }

    /** Adds the agent, with its options or none. */
    Jvm agent(final String agentOptions) {
        return option("-javaagent:" + agentJar() + (agentOptions.isEmpty() ? "" : "=" + agentOptions));
    }

    /** Adds another agent, a class of the class path. */
    Jvm agent(final Class<?> agent, final String argument) throws IOException {
        final Path file = folder.resolve(agent.getSimpleName() + ".jar");
        final Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", agent.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream stream = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(stream, manifest)) {
            jar.finish();
        }
        return option("-javaagent:" + file + "=" + argument);
    }

    /** Lets native libraries be found in a folder first. */
    Jvm libraries(final Path first) {
        libraries = first;
        return this;
    }

    Outcome run(final String main, final String... arguments) throws IOException, InterruptedException {
        return start(main, arguments).await();
    }

    /** A running virtual machine has a folder that no other one uses. */
    final class Running {

        private final Process process;

        private Running(final Process process) {
            this.process = process;
        }

        Outcome await() throws IOException, InterruptedException {
            if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(process.info() + " must end within " + MOST_SECONDS + " s");
            }
            return new Outcome(process.exitValue(), lines("out.txt"), lines("err.txt"));
        }

        private List<String> lines(final String file) throws IOException {
            return Files.readAllLines(folder.resolve(file), StandardCharsets.UTF_8);
        }
    }

    Running start(final String main, final String... arguments) throws IOException {
        final List<String> command = new ArrayList<>(options);
        command.add(main);
        command.addAll(List.of(arguments));
        final ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(folder.resolve("out.txt").toFile())
                .redirectError(folder.resolve("err.txt").toFile());
        // Each of these variables makes the virtual machine print a line of its own on standard error.
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"));
        if (libraries != null) {
            builder.environment()
                    .merge("LD_LIBRARY_PATH", libraries.toString(), (old, added) -> added + File.pathSeparator + old);
        }
        return new Running(builder.start());
    }

    static String join(final List<Path> paths) {
        return paths.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Returns the jar that the build has made; without it the test is skipped. */
    static Path agentJar() {
        final Path jar = Path.of(System.getProperty("outboard.agent.jar", "outboard-agent.jar"));
        Assumptions.assumeTrue(Files.isRegularFile(jar), () -> "skipped, needs the agent's jar: " + jar);
        return jar;
    }

    /** Returns the folder or jar that a class is loaded from. */
    static Path homeOf(final Class<?> type) {
        return homeOf("/" + type.getName().replace('.', '/') + ".class");
    }

    /** Returns the folder or jar that has a resource. */
    static Path homeOf(final String resource) {
        final URL url = Jvm.class.getResource(resource);
        if (url == null) {
            throw new IllegalArgumentException("resource=" + resource + " must be on the class path");
        }
        try {
            if (url.openConnection() instanceof JarURLConnection connection) {
                return Path.of(connection.getJarFileURL().toURI());
            }
            // The path is absolute, with the resource's own elements at its end.
            final Path path = Path.of(url.toURI());
            final int elements = Path.of(resource.substring(1)).getNameCount();
            return path.getRoot().resolve(path.subpath(0, path.getNameCount() - elements));
        } catch (final IOException | URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
