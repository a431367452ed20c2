package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients in this process and in others share leases. */
@Timeout(60)
class SharingTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    /** A part of the name of a lease's file. Files of other names may have the same numbers. */
    private static final String FILE = "outboard-lease";

    private static final int INODE_OF_MAPPING = 4;
    private static final String NO_TICKET = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path folder;

    /** The numbers that Linux gave the files of this test's leases. */
    private final Set<String> inodes = ConcurrentHashMap.newKeySet();

    private Path socket;
    private Lender lender;

    /** This device notes the files of its leases, so that a test isn't confused by those of an earlier lender. */
    private final class Device extends MemoryDevice {

        Device() throws IOException {
            super(8 * UNIT);
        }

        @Override
        public Memory create(final long bytes) throws IOException {
            final Memory memory = super.create(bytes);
            inodes.add(inodeOf(Path.of("/proc/self/fd/" + memory.descriptor())));
            return memory;
        }
    }

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        socket = folder.resolve("lender");
        lender = lender();
    }

    private Lender lender() throws IOException {
        return Lender.of(new Device())
                .quota("little", new Quota(0, UNIT))
                .settling(Duration.ofMillis(500))
                .start(socket);
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    private LeasedMemorySource connect(final String name) throws IOException {
        return LeasedMemorySource.connect(socket, name);
    }

    private long leasedBytes(final String name) {
        return lender.status().clients().stream()
                .filter(client -> client.name().equals(name))
                .mapToLong(LenderStatus.Client::leasedBytes)
                .sum();
    }

    private static String inodeOf(final Path descriptor) throws IOException {
        return String.valueOf(Files.getAttribute(descriptor, "unix:ino"));
    }

    /** Returns this process's mappings and descriptors of the leases; Linux frees a file with the last of them. */
    private List<String> leasesOfThisProcess() {
        final List<String> leases = new ArrayList<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (final String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
                if (line.contains(FILE) && inodes.contains(line.split(" +", -1)[INODE_OF_MAPPING])) {
                    leases.add(line);
                }
            }
            for (final Path each : descriptors.toList()) {
                try {
                    if (Files.readSymbolicLink(each).toString().contains(FILE) && inodes.contains(inodeOf(each))) {
                        leases.add(each.toString());
                    }
                } catch (final IOException e) {
                    // This descriptor was that of the listing, and is closed by now.
                }
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return leases;
    }

    @Test
    void shouldPassBytesWithoutACopy() throws IOException {
        try (LeasedMemorySource one = connect("one");
                LeasedMemorySource other = connect("other")) {
            final SharedMemory made = one.share(UNIT + 1);
            final SharedMemory opened = other.open(made.ticket(), false);

            made.view(17, 8).putLong(0, 4711);
            assertEquals(4711, opened.view(17, 8).getLong(0));
            opened.view(2 * UNIT - 8, 8).putLong(0, 42);
            assertEquals(42, made.view(2 * UNIT - 8, 8).getLong(0));

            assertEquals(2 * UNIT, made.bytes());
            assertEquals(2 * UNIT, opened.bytes());
            assertEquals(made.ticket(), opened.ticket());
            assertNotEquals(made.address(), opened.address());
            assertFalse(made.toString().contains(made.ticket()), made::toString);
        }
        Await.until(() -> lender.status().lentBytes() == 0, lender::status);
    }

    @Test
    void shouldCountItOnceToWhoHasItLongest() throws IOException {
        try (LeasedMemorySource one = connect("one");
                LeasedMemorySource other = connect("other");
                LeasedMemorySource third = connect("little")) {
            final SharedMemory made = one.share(2 * UNIT);
            final SharedMemory opened = other.open(made.ticket(), true);
            final SharedMemory openedToo = third.open(made.ticket(), true);
            made.view(0, 8).putLong(0, 4711);
            assertEquals(2 * UNIT, lender.status().lentBytes());
            assertEquals(2 * UNIT, leasedBytes("one"));
            // Three mappings, and the descriptor that the lender keeps.
            Await.until(() -> leasesOfThisProcess().size() == 4, this::leasesOfThisProcess);

            made.close();
            assertEquals(2 * UNIT, lender.status().lentBytes());
            assertEquals(2 * UNIT, leasedBytes("other"));
            assertEquals(4711, opened.view(0, 8).getLong(0));
            // The lease can still be opened, even by the client that closed it.
            final SharedMemory again = one.open(made.ticket(), false);
            assertEquals(4711, again.view(0, 8).getLong(0));
            again.close();

            opened.close();
            // The lease counts to "little" now, though it is larger than that client's quota.
            assertEquals(2 * UNIT, leasedBytes("little"));
            openedToo.close();
            openedToo.close();

            assertEquals(0, lender.status().lentBytes());
            Await.until(() -> leasesOfThisProcess().isEmpty(), this::leasesOfThisProcess);
            assertThrows(IOException.class, () -> one.open(made.ticket(), false));
        }
    }

    @Test
    void shouldNotLetAReaderWrite() throws IOException {
        final Linux linux = LinuxCalls.find();
        try (LeasedMemorySource one = connect("one");
                LeasedMemorySource other = connect("other")) {
            final SharedMemory made = one.share(UNIT);
            try (SharedMemory opened = other.open(made.ticket(), true)) {
                assertTrue(opened.isReadOnly());
                assertThrows(
                        ReadOnlyBufferException.class, () -> opened.view(0, 8).putLong(0, 1));
            }
            // The descriptor itself is read-only, too, since a client in another language might map it for writing.
            final int raw = linux.socket(true);
            linux.connect(raw, socket);
            linux.send(raw, new Message(MessageType.HELLO, 1, 1, 0, 0, "raw").toBytes(), Linux.NONE);
            final byte[] bytes = new byte[Message.BYTES + 1];
            final int[] descriptor = new int[1];
            linux.receive(raw, bytes, descriptor);
            linux.send(
                    raw,
                    new Message(MessageType.OPEN, 2, Message.READ_ONLY, 0, 0, made.ticket()).toBytes(),
                    Linux.NONE);
            final Message answer = Message.read(bytes, linux.receive(raw, bytes, descriptor));

            assertEquals(MessageType.OPENED, answer.type());
            assertEquals(UNIT, answer.b());
            assertEquals(made.ticket(), answer.text());
            final long address = linux.reserve(UNIT);
            final LinuxException e =
                    assertThrows(LinuxException.class, () -> linux.map(address, UNIT, descriptor[0], false));
            assertEquals(LinuxException.EACCES, e.number());
            linux.map(address, UNIT, descriptor[0], true);
            made.view(0, 8).putLong(0, 4711);
            assertEquals(4711, linux.view(address, 8).getLong(0));
            linux.free(address, UNIT);
            linux.close(descriptor[0]);
            linux.close(raw);
        }
    }

    @Test
    void shouldRefuseTicketsThatAreNone() throws IOException {
        try (LeasedMemorySource one = connect("one")) {
            final IOException e = assertThrows(IOException.class, () -> one.open(NO_TICKET, false));

            assertTrue(String.valueOf(e.getMessage()).contains("no shared lease has this ticket"), e::getMessage);
            for (final String wrong : List.of("", "x", NO_TICKET + "0", NO_TICKET.toUpperCase(Locale.ROOT))) {
                assertThrows(IllegalArgumentException.class, () -> one.open(wrong, false));
            }
            assertThrows(IllegalArgumentException.class, () -> one.share(0));
            assertThrows(IllegalArgumentException.class, () -> one.share(Long.MAX_VALUE));
            final DeviceOutOfMemoryException full =
                    assertThrows(DeviceOutOfMemoryException.class, () -> one.share(9 * UNIT));
            assertTrue(full.reason().contains("quota"), full::reason);
            // None of these failures harmed the connection.
            final SharedMemory made = one.share(UNIT);
            assertNotEquals(made.ticket(), one.share(UNIT).ticket());
            assertThrows(IllegalArgumentException.class, () -> made.view(UNIT, 1));
            assertThrows(IllegalArgumentException.class, () -> made.view(-1, 1));
            made.close();
            assertThrows(IllegalStateException.class, () -> made.view(0, 1));
        }
    }

    @Test
    void shouldRefuseMoreThanTheLenderHasDescriptorsFor() throws IOException {
        lender.close();
        lender = Lender.of(LendingDevice.memory((Shares.MOST + 2) * UNIT)).start(socket);
        try (LeasedMemorySource one = connect("one")) {
            final List<SharedMemory> all = new ArrayList<>();
            for (int i = 0; i < Shares.MOST; i++) {
                all.add(one.share(UNIT));
            }

            final DeviceOutOfMemoryException e = assertThrows(DeviceOutOfMemoryException.class, () -> one.share(UNIT));

            assertTrue(e.reason().contains("shared leases: 512 at most"), e::reason);
            assertEquals(Shares.MOST * UNIT, lender.status().lentBytes());
            all.get(0).close();
            one.share(UNIT).close();
        }
    }

    @Test
    void shouldOutliveItsMaker() throws Exception {
        try (Jvm maker = Jvm.client(socket, "maker");
                Jvm reader = Jvm.client(socket, "reader");
                LeasedMemorySource here = connect("here")) {
            assertEquals("ready", maker.answer());
            assertEquals("ready", reader.answer());
            final String ticket = maker.ask("share " + 3 * UNIT);
            assertEquals("ok", reader.ask("open " + ticket + " " + maker.pid()));
            final SharedMemory opened = here.open(ticket, true);
            assertEquals(3 * UNIT, leasedBytes("maker"));

            maker.kill();
            Await.until(() -> leasedBytes("reader") == 3 * UNIT, lender::status);
            assertEquals("ok", reader.ask("open " + ticket + " " + maker.pid()));
            assertEquals(maker.pid(), opened.view(3 * UNIT - 8, 8).getLong(0));
            assertEquals(3 * UNIT, lender.status().lentBytes());

            reader.kill();
            Await.until(() -> leasedBytes("here") == 3 * UNIT, lender::status);
            opened.close();
            assertEquals(0, lender.status().lentBytes());
        }
    }

    /** Tries a request, and returns false while the client hasn't found the next lender. */
    private static boolean isServed(final LeasedMemorySource source) {
        try {
            source.share(UNIT).close();
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            assertTrue(e.reason().contains("lender gone"), e::reason);
            return false;
        }
    }

    /** The next lender is told of a shared lease, counts it once, and has no descriptor of it. */
    @Test
    void shouldBeCountedOnceAndVoidAfterItsLender() throws IOException {
        try (LeasedMemorySource one = connect("one");
                LeasedMemorySource other = connect("other")) {
            final SharedMemory made = one.share(2 * UNIT);
            final SharedMemory opened = other.open(made.ticket(), false);

            lender.close();
            lender = lender();

            // The lender answers a request only after all earlier messages of the client.
            Await.until(() -> isServed(one) && isServed(other), lender::status);
            assertEquals(2 * UNIT, lender.status().lentBytes());
            assertThrows(IOException.class, () -> other.open(made.ticket(), false));
            made.view(0, 8).putLong(0, 4711);
            assertEquals(4711, opened.view(0, 8).getLong(0));
            made.close();
            assertEquals(2 * UNIT, lender.status().lentBytes());
            opened.close();
            assertEquals(0, lender.status().lentBytes());
        }
    }
}
