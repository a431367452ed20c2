package io.outboard.bench.measure.check;

import io.outboard.bench.cli.common.WrongUseException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The file records the shards that are finished, as one JSON object on each line, so that a run continues where an
 * earlier one ended. Shards with a violation aren't recorded, and so are repeated. Text behind the end of the last
 * whole line is from an interrupted write, and is cut off.
 *
 * <p>Only one process can have the file open at a time. Safe for any number of threads; each shard is written at once.
 */
final class StateFile implements AutoCloseable {

    static final String NAME = "check-shards.jsonl";

    private final Path file;
    private final FileChannel channel;
    private final String commit;
    private final Map<Shard, ShardResult> finished = new LinkedHashMap<>();

    /**
     * Opens the file in a folder, or makes one.
     *
     * @throws WrongUseException if another process has it open, or it is of another seed, another commit, another
     *     version of this command or no such file at all; nothing changed
     */
    StateFile(final Path folder, final long seed, final String commit) throws IOException {
        this.commit = commit;
        file = folder.resolve(NAME);
        Files.createDirectories(folder);
        channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            lock();
            read(seed);
        } catch (final IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private void lock() throws IOException {
        try {
            if (channel.tryLock() != null) {
                return;
            }
        } catch (final OverlappingFileLockException ofThisProcess) {
            throw new WrongUseException("--out: " + file + " must not be in use by another run");
        }
        throw new WrongUseException("--out: " + file + " must not be in use by another run");
    }

    private void read(final long seed) throws IOException {
        final String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        final int end = text.lastIndexOf('\n') + 1;
        int number = 0;
        for (final String line : text.substring(0, end).lines().toList()) {
            number++;
            if (ShardResult.isOfAnotherVersion(line)) {
                throw wrong(
                                number,
                                "must be of version " + ShardResult.VERSION
                                        + ", whose shards are others: choose another folder")
                        .get();
            }
            final ShardResult result = ShardResult.parse(line)
                    .orElseThrow(wrong(number, "must be a finished shard, as outboard check writes them"));
            if (result.shard().seed() != seed) {
                throw wrong(number, "must be of seed " + seed + ": choose that seed, or another folder")
                        .get();
            }
            if (!ShardResult.commitOf(line).equals(commit)) {
                throw wrong(number, "must be of commit " + commit + ", which is what runs: choose another folder")
                        .get();
            }
            finished.put(result.shard(), result);
        }
        channel.truncate(end);
        channel.position(end);
    }

    private Supplier<WrongUseException> wrong(final int line, final String rule) {
        return () -> new WrongUseException("--out: " + file + ":" + line + ": " + rule);
    }

    /** Returns the result of a shard, if it is finished. */
    synchronized Optional<ShardResult> find(final Shard shard) {
        final @Nullable ShardResult result = finished.get(shard);
        return Optional.ofNullable(result);
    }

    /** Records a finished shard, unless there was a violation. */
    synchronized void add(final ShardResult result) throws IOException {
        if (result.violation() == null) {
            finished.put(result.shard(), result);
            final ByteBuffer line = StandardCharsets.US_ASCII.encode(result.json(commit) + "\n");
            while (line.hasRemaining()) {
                channel.write(line);
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
