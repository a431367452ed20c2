package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A message comes with one descriptor at most, whoever sends it; src/test/c/descriptors.c sends more. */
@Timeout(60)
class DescriptorsTest {

    @TempDir
    Path folder;

    private Linux linux;
    private Path program;
    private Path socket;
    private int listening = Linux.NONE;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        Jvm.assumeLeases();
        program = NativeProgram.compile("descriptors", folder);
        linux = LinuxCalls.find();
        socket = folder.resolve("socket");
        listening = linux.socket(false);
        linux.bind(listening, socket);
        linux.listen(listening);
    }

    @AfterEach
    void end() {
        if (listening != Linux.NONE) {
            linux.close(listening);
        }
    }

    /** Returns a connection on which a message with {@code count} descriptors waits. */
    private int accept(final int count) throws IOException, InterruptedException {
        assertEquals(
                new NativeProgram.Run(0, ""),
                NativeProgram.run(program.toString(), socket.toString(), String.valueOf(count)));
        return linux.accept(listening);
    }

    /** Returns how many of the descriptors that the program has sent are open in this process. */
    private static long open() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(DescriptorsTest::isOfProgram).count();
        }
    }

    private static boolean isOfProgram(final Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals("/dev/zero");
        } catch (final IOException e) {
            return false;
        }
    }

    @Test
    void shouldTakeOne() throws IOException, InterruptedException {
        final int connection = accept(1);
        final int[] descriptor = new int[1];

        assertEquals(Message.BYTES, linux.receive(connection, new byte[Message.BYTES + 1], descriptor));

        assertNotEquals(Linux.NONE, descriptor[0]);
        assertEquals(1, open());
        linux.close(descriptor[0]);
        linux.close(connection);
    }

    @Test
    void shouldRefuseMoreAndCloseThem() throws IOException, InterruptedException {
        for (int count = 2; count <= 8; count += 3) {
            final int connection = accept(count);

            final LinuxException e = assertThrows(
                    LinuxException.class, () -> linux.receive(connection, new byte[Message.BYTES + 1], new int[1]));

            assertTrue(e.getMessage().contains("descriptor"), e::getMessage);
            assertEquals(0, open());
            linux.close(connection);
        }
    }

    @Test
    void shouldRefuseAnyWhereNoneIsToCome() throws IOException, InterruptedException {
        final int connection = accept(1);

        final LinuxException e = assertThrows(
                LinuxException.class, () -> linux.receive(connection, new byte[Message.BYTES + 1], new int[0]));

        assertEquals(LinuxException.EBADMSG, e.number());
        assertEquals(0, open());
        linux.close(connection);
    }
}
