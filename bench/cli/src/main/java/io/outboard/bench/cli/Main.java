package io.outboard.bench.cli;

import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.common.DidYouMean;
import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.TraceFormatException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ServiceConfigurationError;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.UnmatchedArgumentException;

/** This class is the command line. Exit codes: 0 done, 1 failed while running, 2 wrong argument or file. */
@Command(
        name = "outboard",
        mixinStandardHelpOptions = true,
        versionProvider = Environment.Version.class,
        description =
                "Measures host-side and in-kernel allocators for GPU memory, and CUDA's own beside them where there is a GPU.",
        footer = "bundle, a command of the launcher, packs all of this for a machine with a GPU and no JDK.",
        synopsisSubcommandLabel = "COMMAND")
public final class Main {

    private static final int FAILED = 1;
    private static final int WRONG_USE = 2;

    /** The exit code that a shell shows for a program that ended because nobody reads its output (SIGPIPE). */
    private static final int UNREAD = 141;

    private static final int WIDEST_HELP = 120;

    @Option(names = "--verbose", scope = CommandLine.ScopeType.INHERIT, description = "Print stack traces with errors.")
    private boolean verbose;

    private Main() {}

    /**
     * Runs one command and exits.
     *
     * @param arguments see {@code outboard --help}
     */
    public static void main(final String... arguments) {
        System.exit(run(arguments));
    }

    /**
     * Makes the command line with the commands of every module on the class path.
     *
     * @return the parser of the arguments
     */
    public static CommandLine commandLine() {
        return commandLine(new Main());
    }

    private static CommandLine commandLine(final Main main) {
        final CommandLine commandLine = new CommandLine(main);
        Stream.concat(
                        CommandModule.all().stream().flatMap(module -> module.commands().stream()),
                        Stream.of(CommandLine.HelpCommand.class, CompletionCommand.class))
                .forEach(commandLine::addSubcommand);
        return commandLine;
    }

    static int run(final String... arguments) {
        final Main main = new Main();
        final CommandLine commandLine = commandLine(main);
        commandLine.setUsageHelpWidth(Math.min(TextTable.terminalColumns(), WIDEST_HELP));
        Environment.rememberCommand(arguments);
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine
                .getSubcommands()
                .values()
                .forEach(command -> command.getCommandSpec().versionProvider(new Environment.Version()));
        commandLine.setParameterExceptionHandler((exception, given) -> {
            final CommandLine command = exception.getCommandLine();
            printError(
                    command.getErr(),
                    oneLine(exception)
                            + (exception instanceof UnmatchedArgumentException unmatched
                                    ? DidYouMean.of(unmatched)
                                    : "")
                            + " (see " + command.getCommandSpec().qualifiedName() + " --help)");
            return WRONG_USE;
        });
        commandLine.setExecutionExceptionHandler((exception, command, result) -> {
            if (isUnread(exception)) {
                return UNREAD;
            }
            printError(command.getErr(), oneLine(exception));
            if (main.verbose) {
                exception.printStackTrace(command.getErr());
            }
            return isWrongUse(exception) ? WRONG_USE : FAILED;
        });
        try {
            return commandLine.execute(arguments);
        } catch (final OutOfMemoryError | LinkageError | ServiceConfigurationError e) {
            printError(commandLine.getErr(), e.toString());
            return FAILED;
        }
    }

    private static boolean isWrongUse(final Exception exception) {
        return exception instanceof WrongUseException
                || exception instanceof TraceFormatException
                || exception instanceof FileNotFoundException
                || exception instanceof NoSuchFileException;
    }

    /**
     * Tells whether the program wrote into a pipe whose reader has ended, as {@code head} does once it has enough
     * lines.
     */
    private static boolean isUnread(final Exception exception) {
        final String reason =
                exception instanceof FileSystemException failure ? failure.getReason() : exception.getMessage();
        return exception instanceof IOException && "Broken pipe".equals(reason);
    }

    private static String oneLine(final Exception exception) {
        final String message = exception.getMessage();
        final String text;
        if (message == null) {
            text = exception.getClass().getSimpleName();
        } else if (exception instanceof FileNotFoundException) {
            text = message;
        } else if (exception instanceof FileSystemException failure) {
            final String reason = failure.getReason();
            text = failure.getFile() + ": "
                    + (reason == null ? exception.getClass().getSimpleName().replace("Exception", "") : reason);
        } else {
            text = message;
        }
        return text.replaceAll("\\s*\\R\\s*", " ");
    }

    private static void printError(final PrintWriter err, final String line) {
        err.println("outboard: " + line);
        err.flush();
    }
}
