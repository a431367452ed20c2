package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.nio.file.Path;

/**
 * This class reports a file that isn't a trace, or is a damaged one. The message is one line for a person: the file,
 * the line or byte offset, the offending value and the rule, for example {@code a.csv, line 12: size=-1 must be a whole
 * number}.
 *
 * <p>Byte offsets count from 0 and, in a gzip file, in the unpacked content. Lines count from 1.
 */
public final class TraceFormatException extends IOException {

    private static final long serialVersionUID = 1L;

    TraceFormatException(final Path file, final String position, final String problem) {
        super(file + ", " + position + ": " + problem);
    }
}
