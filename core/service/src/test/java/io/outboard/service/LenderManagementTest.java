package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemoryUser;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.timer.Timer;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** JMX and JFR show what a lender does. */
@Timeout(60)
class LenderManagementTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    @TempDir
    Path folder;

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private Path socket;
    private ObjectName name;
    private Lender lender;
    private LenderMXBean bean;

    @BeforeEach
    void start() throws Exception {
        Jvm.assumeLeases();
        // JMX allows such a name only in quotes.
        socket = folder.resolve("a,b=c");
        name = new ObjectName("io.outboard:type=Lender,socket=" + ObjectName.quote(socket.toString()));
        lender = Lender.of(LendingDevice.memory(8 * UNIT))
                .quota("little", new Quota(UNIT, 2 * UNIT))
                .start(socket);
        bean = JMX.newMXBeanProxy(server, name, LenderMXBean.class);
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    @Test
    void shouldShowTheLedger() throws Exception {
        try (LenderConnection connection = LenderConnection.connect(socket, "little")) {
            connection.closeDescriptor(connection.lease(UNIT));
            assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(3 * UNIT));

            assertEquals("memory", bean.getDevice());
            assertEquals(8 * UNIT, bean.getLimitBytes());
            assertEquals(UNIT, bean.getLentBytes());
            assertEquals(0, bean.getSpareBytes());
            assertEquals(1, bean.getClients());
            assertEquals(0, bean.getWaitingClients());
            assertEquals(0, bean.getWaitingBytes());
            assertEquals(1, bean.getLeases());
            assertEquals(1, bean.getRefusals());
            // A JMX client without the project's classes sees the row like this.
            final CompositeData row = ((CompositeData[]) server.getAttribute(name, "ClientRows"))[0];
            assertEquals("little", row.get("name"));
            assertEquals((int) ProcessHandle.current().pid(), row.get("pid"));
            assertEquals(UNIT, row.get("leasedBytes"));
            assertEquals(UNIT, row.get("guaranteedBytes"));
            assertEquals(2 * UNIT, row.get("mostBytes"));
        }
        Await.until(() -> bean.getClients() == 0, lender::status);
        assertEquals(0, bean.getLentBytes());
        assertEquals(1, bean.getLeases());
    }

    @Test
    void shouldShowWhoWaits() throws Exception {
        final CountDownLatch seen = new CountDownLatch(1);
        try (LenderConnection one = LenderConnection.connect(socket, "one");
                LenderConnection other = LenderConnection.connect(socket, "other")) {
            one.addUser(new MemoryUser() {
                @Override
                public void giveBack(final long bytes) {
                    try {
                        seen.await();
                    } catch (final InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }

                @Override
                public long usedBytes() {
                    return 0;
                }
            });
            one.closeDescriptor(one.lease(7 * UNIT));
            other.deadline(Duration.ofSeconds(30));

            final CompletableFuture<Void> refused = CompletableFuture.runAsync(
                    () -> assertThrows(DeviceOutOfMemoryException.class, () -> other.lease(2 * UNIT)));

            Await.until(() -> bean.getWaitingClients() == 1, lender::status);
            assertEquals(2 * UNIT, bean.getWaitingBytes());
            seen.countDown();
            refused.join();
            assertEquals(0, bean.getWaitingClients());
            assertEquals(1, bean.getRefusals());
        }
    }

    @Test
    void shouldBeThereWhileTheLenderRuns() throws Exception {
        assertTrue(server.isRegistered(name));

        lender.close();

        assertFalse(server.isRegistered(name));
        lender = Lender.of(LendingDevice.memory(UNIT)).start(socket);
        assertEquals(UNIT, bean.getLimitBytes());
        assertThrows(
                IOException.class, () -> Lender.of(LendingDevice.memory(UNIT)).start(socket));
        assertTrue(server.isRegistered(name));
        // The lender ends though somebody else has unregistered the bean.
        server.unregisterMBean(name);
        lender.close();
    }

    /** The lender then can't start, leaves nothing behind, and takes nothing away. */
    @Test
    void shouldLeaveABeanThatHasItsName() throws Exception {
        lender.close();
        server.registerMBean(new Timer(), name);
        try {
            assertThrows(
                    IllegalStateException.class,
                    () -> Lender.of(LendingDevice.memory(UNIT)).start(socket));

            assertTrue(server.isRegistered(name));
            assertTrue(Files.notExists(socket));
        } finally {
            server.unregisterMBean(name);
        }
        lender = Lender.of(LendingDevice.memory(UNIT)).start(socket);
        assertEquals(UNIT, bean.getLimitBytes());
    }

    @Test
    void shouldRecordWhatItDoes() throws Exception {
        final Path file = folder.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            try (LenderConnection connection = LenderConnection.connect(socket, "little")) {
                connection.closeDescriptor(connection.lease(UNIT));
                assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(3 * UNIT));
            }
            Await.until(() -> lender.status().clients().isEmpty(), lender::status);
            recording.stop();
            recording.dump(file);
        }

        final List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("io.outboard.LenderActivity"))
                .toList();
        assertEquals(
                List.of("connected", "leased", "refused", "disconnected"),
                events.stream().map(event -> event.getString("kind")).toList());
        for (final RecordedEvent event : events) {
            assertEquals(List.of("Outboard"), event.getEventType().getCategoryNames());
            assertEquals(socket.toString(), event.getString("socket"));
            assertEquals("little", event.getString("client"));
            assertEquals((int) ProcessHandle.current().pid(), event.getInt("pid"));
        }
        assertEquals(
                List.of(0L, UNIT, 3 * UNIT, UNIT),
                Stream.of(0, 1, 2, 3)
                        .map(i -> events.get(i).getLong("sizeBytes"))
                        .toList());
        assertEquals("the client's quota is used up", events.get(2).getString("detail"));
    }
}
