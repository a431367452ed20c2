package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** This class collects the facts about machine and software that a reader of results must know. */
public final class Environment {

    private static String command = "outboard";

    private Environment() {}

    /** This class prints the version of the command line. */
    public static final class Version implements IVersionProvider {

        /** Picocli calls this constructor. */
        public Version() {}

        @Override
        public String[] getVersion() {
            return new String[] {
                "outboard " + build().getProperty("git.build.version", "unknown") + ", commit " + commit()
            };
        }
    }

    /**
     * Remembers the command line, which {@link #facts} reports.
     *
     * @param arguments of the command line
     */
    public static void rememberCommand(final String... arguments) {
        command = "./outboard "
                + Arrays.stream(arguments)
                        .map(argument -> argument.matches("[\\w./,:=-]+")
                                ? argument
                                : "'" + argument.replace("'", "'\\''") + "'")
                        .collect(Collectors.joining(" "));
    }

    /**
     * Collects all facts by their keys in {@code environment.json}. Without a GPU, the keys of the GPU are missing.
     *
     * @param gpu the GPU that was measured on, null without one
     * @param baselines how the driver was called, may be empty
     * @return facts, in the order in which people read them
     */
    public static Map<String, String> facts(final @Nullable CudaDevice gpu, final String baselines) {
        final Map<String, String> facts = new LinkedHashMap<>();
        facts.put("command", command);
        facts.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        if (gpu != null) {
            facts.put("gpu", gpu.name());
            facts.put("driver", gpu.driver());
            facts.put(
                    "cuda",
                    "driver API " + CudaDevice.versionText(gpu.driverVersion()) + ", runtime "
                            + CudaDevice.versionText(gpu.runtimeVersion()));
        }
        if (!baselines.isEmpty()) {
            facts.put("baselines", baselines);
        }
        facts.put("jdk", jdk());
        facts.put("flags", flags(ManagementFactory.getRuntimeMXBean().getInputArguments()));
        facts.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("cpu", cpu());
        facts.put("commit", commit());
        return facts;
    }

    /**
     * Gives the facts as {@code environment.json} holds them.
     *
     * @param gpu as in {@link #facts}
     * @param baselines as in {@link #facts}
     * @return one JSON object
     */
    public static String json(final @Nullable CudaDevice gpu, final String baselines) {
        final JsonLine line = new JsonLine();
        facts(gpu, baselines).forEach(line::put);
        return line.toString();
    }

    /**
     * Names the JVM that runs this program.
     *
     * @return vendor and version
     */
    public static String jdk() {
        return System.getProperty("java.vm.vendor") + " " + System.getProperty("java.vm.version");
    }

    /**
     * Names the commit that this program was built from.
     *
     * @return its short name, with {@code -dirty} at the end if the sources differed from the commit; or
     *     {@code unknown}
     */
    public static String commit() {
        final Properties build = build();
        return build.getProperty("git.commit.id.abbrev", "unknown")
                + (Boolean.parseBoolean(build.getProperty("git.dirty")) ? "-dirty" : "");
    }

    private static Properties build() {
        final Properties properties = new Properties();
        try (InputStream in = Environment.class.getResourceAsStream("/io/outboard/bench/cli/commit.properties")) {
            if (in != null) {
                properties.load(in);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties;
    }

    /**
     * Picks those of a JVM's options that change how the program runs or what is measured. Options that name folders or
     * describe the terminal say nothing about a result.
     */
    static String flags(final List<String> options) {
        final String flags = options.stream()
                .filter(option -> option.matches("-X.*|-Doutboard\\.(?!terminal=|columns=).*"))
                .collect(Collectors.joining(" "));
        return flags.isEmpty() ? "none" : flags;
    }

    /**
     * Describes the machine's processor.
     *
     * @return name of the processor and number of cores
     */
    public static String cpu() {
        final String cores = Runtime.getRuntime().availableProcessors() + " cores";
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                            .map(line -> line.substring(line.indexOf(':') + 1).strip() + ", ")
                            .findFirst()
                            .orElse("")
                    + cores;
        } catch (final IOException | UncheckedIOException e) {
            return System.getProperty("os.arch") + ", " + cores;
        }
    }
}
