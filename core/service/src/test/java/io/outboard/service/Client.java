package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.pool.Pool;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A client runs in a process of its own, and has a pool in whose blocks each word holds the client's pattern. The
 * process reads commands from standard input: {@code allocate BYTES} (checks that the memory is zero or has its own
 * pattern), {@code free}, {@code check}, {@code trim}, {@code deadline MILLIS}, {@code share BYTES} (answers the
 * ticket), {@code open TICKET PATTERN}, {@code end}. The answer is {@code ok}, or what is wrong.
 */
final class Client {

    private static final long FIRST_REGION = MemoryDevice.UNIT_BYTES;

    /** Tests end lenders on purpose, and the build's output needn't tell. */
    private static final Logger LOGGER = Logger.getLogger("io.outboard");

    private record Block(long address, int bytes) {}

    private final LeasedMemorySource source;
    private final Pool pool;
    private final long pattern;
    private final Deque<Block> blocks = new ArrayDeque<>();

    private Client(final LeasedMemorySource source, final long pattern) {
        this.source = source;
        this.pattern = pattern;
        pool = Pool.over(source).firstRegionBytes(FIRST_REGION).build();
    }

    /** Runs a client; the arguments are the socket and a name. */
    public static void main(final String[] arguments) throws IOException {
        LOGGER.setLevel(Level.OFF);
        final LeasedMemorySource source = LeasedMemorySource.connect(Path.of(arguments[0]), arguments[1]);
        final Client client = new Client(source, ProcessHandle.current().pid());
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            final String[] words = line.split(" ");
            if (words[0].equals("end")) {
                client.pool.close();
                source.close();
                System.out.println("ok");
                return;
            }
            System.out.println(client.answer(words));
        }
    }

    private String answer(final String[] words) {
        try {
            switch (words[0]) {
                case "allocate" -> allocate(Integer.parseInt(words[1]));
                case "free" -> {
                    final Block block = blocks.removeLast();
                    check(block);
                    pool.free(block.address);
                }
                case "check" -> blocks.forEach(this::check);
                case "trim" -> pool.trimTo(0);
                case "deadline" -> source.connection().deadline(Duration.ofMillis(Long.parseLong(words[1])));
                case "leased" -> {
                    return String.valueOf(source.connection().leasedBytes());
                }
                case "share" -> {
                    return share(Integer.parseInt(words[1]));
                }
                case "open" -> open(words[1], Long.parseLong(words[2]));
                case "churn" -> churn(Integer.parseInt(words[1]));
                default -> throw new IllegalArgumentException("command=" + words[0]);
            }
            return "ok";
        } catch (final DeviceOutOfMemoryException e) {
            return "refused: " + e.getMessage();
        } catch (final IllegalStateException | IOException e) {
            return "wrong: " + e.getMessage();
        }
    }

    private void allocate(final int bytes) {
        final Block block = new Block(pool.allocate(bytes), bytes);
        final ByteBuffer view = source.view(block.address, block.bytes);
        for (int i = 0; i < bytes; i += Long.BYTES) {
            final long found = view.getLong(i);
            if (found != 0 && found != pattern) {
                throw new IllegalStateException("new memory has " + found + " at " + i);
            }
            view.putLong(i, pattern);
        }
        blocks.add(block);
    }

    /** Shares memory with the pattern in each word, and returns its ticket. */
    private String share(final int bytes) {
        final SharedMemory memory = source.share(bytes);
        final ByteBuffer view = memory.view(0, bytes);
        for (int i = 0; i < bytes; i += Long.BYTES) {
            view.putLong(i, pattern);
        }
        return memory.ticket();
    }

    /** Opens memory that another client shares, checks its pattern, and leaves it open. */
    private void open(final String ticket, final long expected) throws IOException {
        final SharedMemory memory = source.open(ticket, true);
        final ByteBuffer view = memory.view(0, (int) memory.bytes());
        for (int i = 0; i < memory.bytes(); i += Long.BYTES) {
            if (view.getLong(i) != expected) {
                throw new IllegalStateException("shared memory has " + view.getLong(i) + " at " + i);
            }
        }
    }

    private void check(final Block block) {
        final ByteBuffer view = source.view(block.address, block.bytes);
        for (int i = 0; i < block.bytes; i += Long.BYTES) {
            if (view.getLong(i) != pattern) {
                throw new IllegalStateException("own memory has " + view.getLong(i) + " at " + i);
            }
        }
    }

    /** Leases units, each of which must be zero, writes to them and gives them back, {@code times} times. */
    private void churn(final int times) {
        final long unit = MemoryDevice.UNIT_BYTES;
        final GrowableRegion region = source.reserve(8 * unit, 8 * unit).orElseThrow();
        final long first = region.region().address();
        for (int i = 0; i < times; i++) {
            region.commit(first, 2 * unit, unit);
            final ByteBuffer view = source.view(first, (int) (2 * unit));
            for (int at = 0; at < 2 * unit; at += 512) {
                if (view.getLong(at) != 0) {
                    throw new IllegalStateException("a fresh lease has " + view.getLong(at) + " at " + at);
                }
                view.putLong(at, pattern);
            }
            region.giveBack(new long[] {first, first + unit}, 2);
        }
        region.close();
    }
}
