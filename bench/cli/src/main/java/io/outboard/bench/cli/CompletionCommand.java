package io.outboard.bench.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** {@code outboard completion} prints a script with which bash and zsh complete commands, options and their values. */
@Command(name = "completion")
final class CompletionCommand extends AutoComplete.GenerateCompletion {}
