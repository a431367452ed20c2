package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.Main;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import io.outboard.pool.ReusePolicy;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests commands in README, docs and results: they are parsed, not run. */
class CommandsTest {

    private static final Pattern COMMAND = Pattern.compile("^(?:\\$ )?(?:\\./outboard|bundle/run\\.sh)(?: (.*))?$");
    private static final Pattern MAVEN = Pattern.compile("^(?:JAVA_HOME=\\S+ )?\\./mvnw (.*)$");

    private static final Set<String> STRATEGIES = Stream.concat(
                    Stream.of("all"), Strategies.all().stream().map(StrategyProvider::name))
            .collect(Collectors.toSet());
    private static final Set<String> POLICIES = Stream.of(ReusePolicy.values())
            .map(policy -> policy.name().toLowerCase(Locale.ROOT).replace('_', '-'))
            .collect(Collectors.toSet());

    /** The command that only the thorough build has and checks. */
    private static final String THOROUGH = "kernels";

    /** The commands of the GPU bundle itself. */
    private static final Set<String> BUNDLE_COMMANDS = Set.of("test", "java");

    @Test
    void shouldBeUnderstood() {
        final List<String> wrong = new ArrayList<>();
        int count = 0;
        for (final Page page : Page.allAndResults()) {
            for (final String line : commands(page)) {
                count++;
                final String problem = problem(line);
                if (!problem.isEmpty()) {
                    wrong.add(page.name() + ": " + line + ": " + problem);
                }
            }
        }

        assertEquals(List.of(), wrong, () -> String.join("\n", wrong));
        assertTrue(count > 30, "count=" + count);
    }

    @Test
    void shouldTellOfEachCommand() {
        final List<String> told = commands(Page.read("docs/operations.md"));
        final List<String> untold = Main.commandLine().getSubcommands().entrySet().stream()
                .filter(command ->
                        !command.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .filter(name -> !name.equals("help") && !name.equals("generate-completion"))
                .filter(name -> told.stream().noneMatch(line -> line.startsWith("./outboard " + name)))
                .toList();

        assertEquals(List.of(), untold, "docs/operations.md must show each command");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "./outboard malloc-big",
                "./outboard malloc-large --profil small",
                "./outboard malloc-large --ops many",
                "./outboard malloc-large --profile none",
                "./outboard replay trace.csv --strategy tlfs",
                "./outboard relay trace.csv",
                "./mvnw -Pnone verify",
                "./mvnw test -pl nowhere",
            })
    void shouldFindThoseThatAreNot(final String command) {
        assertEquals(List.of(command), commands(new Page("page", "So:\n\n    " + command + "    # why\n")));
        assertTrue(!problem(command).isEmpty());
    }

    /** Returns the commands in code, in blocks and in sentences; a line may have several. */
    private static List<String> commands(final Page page) {
        return Stream.concat(page.commandLines().stream(), page.inlineCode().stream())
                .flatMap(line -> Stream.of(line.replaceFirst("\\s+#\\s.*$", "").split("\\s*(?:&&|'|&$)\\s*(?!\\*)")))
                .filter(line ->
                        COMMAND.matcher(line).matches() || MAVEN.matcher(line).matches())
                .toList();
    }

    private static String problem(final String line) {
        final Matcher command = COMMAND.matcher(line);
        if (!command.matches()) {
            return mavenProblem(line);
        }
        final List<String> words =
                command.group(1) == null ? List.of() : List.of(command.group(1).split(" +"));
        if (words.isEmpty() || words.equals(List.of("bundle")) || BUNDLE_COMMANDS.contains(words.get(0))) {
            return "";
        }
        final CommandLine commandLine = Main.commandLine();
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        final CommandLine subcommand = commandLine.getSubcommands().get(words.get(0));
        if (subcommand == null ? words.get(0).equals(THOROUGH) : words.size() == 1) {
            return "";
        }
        try {
            commandLine.parseArgs(words.toArray(String[]::new));
        } catch (final CommandLine.ParameterException e) {
            return String.valueOf(e.getMessage());
        }
        return subcommand == null
                ? ""
                : valueProblem(words, "--profile", profiles(subcommand))
                        + valueProblem(words, "--strategy", STRATEGIES)
                        + valueProblem(words, "--reuse", POLICIES);
    }

    /** Returns the profiles that a command's help names. */
    private static Set<String> profiles(final CommandLine subcommand) {
        final CommandLine.Model.OptionSpec option = subcommand.getCommandSpec().findOption("--profile");
        return option == null
                ? Set.of()
                : new TreeSet<>(List.of(String.join(" ", option.description()).split("[^\\w-]+")));
    }

    private static String valueProblem(final List<String> words, final String option, final Set<String> known) {
        final int at = words.indexOf(option);
        return at < 0
                ? ""
                : Stream.of(words.get(at + 1).split(","))
                        .map(value -> isOfFamily(value) ? "all" : value)
                        .filter(value -> !known.contains(value) && !value.equals(value.toUpperCase(Locale.ROOT)))
                        .map(value -> option + "=" + value + " is unknown ")
                        .collect(Collectors.joining());
    }

    /** Returns whether a value is like planned:FILE; the file needn't exist. */
    private static boolean isOfFamily(final String value) {
        return Strategies.families().stream().anyMatch(family -> value.matches(Pattern.quote(family.name()) + ":.+"));
    }

    private static String mavenProblem(final String line) {
        final StringBuilder problems = new StringBuilder();
        // Maven knows the profiles of every module.
        final String poms = Page.read("pom.xml").text()
                + Page.read("cuda-backend/agent/pom.xml").text();
        final Matcher profiles = Pattern.compile(" -P(\\w+)").matcher(line);
        while (profiles.find()) {
            if (!poms.contains("<id>" + profiles.group(1) + "</id>")) {
                problems.append("profile ").append(profiles.group(1)).append(" is unknown ");
            }
        }
        final Matcher modules = Pattern.compile(" -pl (\\S+)").matcher(line);
        while (modules.find()) {
            Stream.of(modules.group(1).split(","))
                    .filter(module -> !Files.exists(Page.PROJECT.resolve(module).resolve("pom.xml")))
                    .forEach(module -> problems.append("module ").append(module).append(" is unknown "));
        }
        return problems.toString();
    }
}
