package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A short client in C, src/test/c/lessee.c, knows docs/service-protocol.md and nothing else. */
@Timeout(120)
class OtherLanguageTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    @TempDir
    Path folder;

    private final List<LenderEvent> events = new CopyOnWriteArrayList<>();
    private Lender lender;
    private Path program;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        Jvm.assumeLeases();
        program = NativeProgram.compile("lessee", folder);
        lender = Lender.of(LendingDevice.memory(8 * UNIT))
                .quota("c", new Quota(0, 4 * UNIT))
                .events(events::add)
                .start(folder.resolve("lender"));
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    private NativeProgram.Run lessee(final long bytes) throws IOException, InterruptedException {
        return NativeProgram.run(program.toString(), lender.socket().toString(), "c", String.valueOf(bytes));
    }

    @Test
    void shouldLeaseAndReturn() throws IOException, InterruptedException {
        final NativeProgram.Run run = lessee(3 * UNIT);

        assertEquals(new NativeProgram.Run(0, "leased " + 3 * UNIT + " bytes, all zero\nreturned\n"), run);
        Await.until(() -> lender.status().clients().isEmpty(), () -> lender.status());
        assertEquals(0, lender.status().lentBytes());
        Await.until(
                () -> events.stream().anyMatch(event -> event.kind() == LenderEvent.Kind.RETURNED), events::toString);
    }

    @Test
    void shouldBeRefusedWhatIsMoreThanItsQuota() throws IOException, InterruptedException {
        final NativeProgram.Run run = lessee(5 * UNIT);

        assertEquals(new NativeProgram.Run(1, "refused: 2\n"), run);
    }
}
