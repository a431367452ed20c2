package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TorchSnapshotTest {

    private static final Map<String, Object> FORWARD =
            Map.of("filename", "/home/someone/train.py", "line", 12L, "name", "forward");
    private static final Map<String, Object> LIBRARY = Map.of(
            "filename", "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", "line", 120L, "name", "__init__");

    @TempDir
    Path folder;

    /** The free that is requested first is completed later, and a segment is the allocator's own. */
    @Test
    void shouldReadTheHistoryOfTheOnlyDeviceThatHasOne() throws IOException {
        final Owners owners = new Owners();
        final Path file = snapshot(
                List.of(
                        List.of(),
                        List.of(
                                event("segment_alloc", 0x1000, 2 << 20, 10),
                                event("alloc", 0x1000, 100, 20, LIBRARY, FORWARD),
                                event("free_requested", 0x1000, 100, 30),
                                event("oom", 0, 1 << 30, 35, LIBRARY),
                                event("alloc", 0x2000, 200, 40),
                                event("free_completed", 0x1000, 100, 50))),
                List.of());

        final Trace trace = TraceReader.read(file, owners);

        assertArrayEquals(
                new long[] {
                    Trace.allocation(0, 100),
                    Trace.allocation(1, 1 << 30),
                    Trace.free(1, 1 << 30),
                    Trace.allocation(1, 200),
                    Trace.free(0, 100)
                },
                trace.operations());
        assertEquals(new FailedRequests(1, 1 << 30), trace.failedRequests());
        assertEquals(
                List.of("", "train.py:12 forward, stream 0x7", "linear.py:120 __init__, stream 0x7", "stream 0x7"),
                namesIn(owners));
        assertEquals(
                List.of("linear.py:120 __init__", "train.py:12 forward"),
                owners.stacks().get(owners.table().get(owners.owner(0)).stack()));
        assertArrayEquals(new long[] {0, 15_000, 15_000, 20_000, 30_000}, owners.nanos());
        assertEquals(List.of(), trace.notes());
    }

    /** PyTorch 2.11 wrote the file on an H200: a step of a network of one layer, from the start of the process. */
    @Test
    void shouldReadWhatPyTorchWrites() throws IOException {
        final Path file = folder.resolve("memory_snapshot.pickle");
        try (InputStream in = Objects.requireNonNull(getClass().getResourceAsStream("torch-2.11.pickle"))) {
            Files.copy(in, file);
        }
        final Owners owners = new Owners();

        final Trace trace = TraceReader.read(file, owners);

        assertEquals(37, trace.operationCount());
        assertEquals(68_257_028, trace.peakLiveBytes());
        assertTrue(
                namesIn(owners).contains("train.py:9 run, stream 0x0"),
                () -> namesIn(owners).toString());
    }

    private static List<String> namesIn(final Owners owners) {
        return owners.table().stream().map(Owners.Owner::text).distinct().toList();
    }

    /** The first block is known by its free, and the last of the segment by its state at the end. */
    @Test
    void shouldBeginWithWhatIsOlderThanTheHistory() throws IOException {
        final Path file = snapshot(
                List.of(List.of(
                        event("alloc", 0x2000, 200, 40),
                        event("free_completed", 0x1000, 100, 50),
                        event("alloc", 0x1000, 50, 60))),
                List.of(
                        Map.of(
                                "device",
                                0L,
                                "address",
                                0x1000L,
                                "blocks",
                                List.of(
                                        block("active_allocated", 512),
                                        block("inactive", 3584),
                                        block("active_allocated", 512),
                                        block("active_pending_free", 1024))),
                        Map.of("device", 1L, "address", 0x9000L, "blocks", List.of(block("active_allocated", 512)))));

        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(file, owners);

        assertArrayEquals(new long[] {0, 0, 0, 10_000, 20_000}, owners.nanos());
        assertArrayEquals(
                new long[] {
                    Trace.allocation(0, 100),
                    Trace.allocation(1, 1000),
                    Trace.allocation(2, 200),
                    Trace.free(0, 100),
                    Trace.allocation(0, 50)
                },
                trace.operations());
        assertEquals(List.of("2 blocks are older than the history, and begin with it"), trace.notes());
    }

    @Test
    void shouldReadTheDeviceThatIsNamed() throws IOException {
        final Path file = snapshot(
                List.of(List.of(event("alloc", 0x1000, 100, 1)), List.of(), List.of(event("alloc", 0x1000, 300, 1))),
                List.of());

        assertArrayEquals(
                new long[] {Trace.allocation(0, 300)},
                TraceReader.read(file, null, "2").operations());
        assertProblem("snapshot: --pool must name one of the pools recorded: 0, 2", file);
        assertEquals(
                file + ", snapshot: --pool=1 must name one of the pools recorded: 0, 2",
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file, null, "1"))
                        .getMessage());
    }

    /** Events of older versions have no times, so they count in their order. */
    @Test
    void shouldKeepTheOrderWithoutTimes() throws IOException {
        final Map<String, Object> first = Map.of("action", "alloc", "addr", 1L, "size", 1L);
        final Map<String, Object> then = Map.of("action", "free_completed", "addr", 1L, "size", 1L);

        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(snapshot(List.of(List.of(first, then, first)), List.of()), owners);

        assertEquals(0, owners.nanos().length);

        assertArrayEquals(
                new long[] {Trace.allocation(0, 1), Trace.free(0, 1), Trace.allocation(0, 1)}, trace.operations());
    }

    /** The texts are by Python 3 ({@code pickle.dumps}): one names a function, others are cut or contradict themselves. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "8004951D000000000000008C05706F736978948C0673797374656D9493948C02686994859452942E |"
                        + " byte 29: instruction=0x93 of the pickle must be of plain data: nothing is called that a file"
                        + " names",
                "80037D71002858090000007365676D656E7473 | byte 19: the pickle must be whole, and ends early",
                "80047D288C0D6465766963655F7472616365735D5D7D288C06616374696F6E8C05616C6C6F638C04616464728A0900000000000000"
                        + "80008C0473697A654B01756161752E | snapshot: addr= must be a whole number",
                "8006 | byte 2: protocol=6 of the pickle must be 2..5",
                "8004652E | byte 3: the pickle must hold what it uses",
                "80042E | byte 3: the pickle must hold what it uses",
                "80044B01732E | byte 5: the pickle must hold what it uses",
                "80044B014B014B01732E | byte 9: entries of the pickle must go into a dictionary",
                "80044B014B01612E | byte 7: items of the pickle must go into a list",
                "80045D9468012E | byte 6: memo=1 of the pickle must be < 1",
                "80044B0171052E | byte 6: memo=5 of the pickle must be <= 0",
                "80048DFFFFFFFFFFFFFFFF2E | byte 11: length=18446744073709551615 in the pickle must be <= 2147483647",
                "80048D0000007F000000002E | byte 12: the pickle must be whole, and ends early",
                "80045D942E | snapshot: the pickle must be a snapshot of PyTorch, a dictionary with device_traces",
                "80047D948C0D6465766963655F747261636573945D94732E | snapshot: the snapshot must hold a history, which"
                        + " torch.cuda.memory._record_memory_history begins"
            })
    void shouldRefuseWhatIsNoSnapshot(final String hexadecimal, final String problem) throws IOException {
        assertProblem(
                problem,
                Files.write(
                        folder.resolve("memory_snapshot.pickle"), HexFormat.of().parseHex(hexadecimal)));
    }

    /** A list has no text, since it may be as deep as the file is long. */
    @Test
    void shouldRefuseWhatIsNoTextWithoutReadingIt() throws IOException {
        List<Object> deep = List.of();
        for (int i = 0; i < 10; i++) {
            deep = List.of(deep, deep);
        }

        assertProblem(
                "snapshot: size= must be a whole number",
                snapshot(List.of(List.of(Map.of("action", "alloc", "addr", 1L, "size", deep))), List.of()));
        assertProblem(
                "snapshot: the recording must hold an allocation, and ends without one",
                snapshot(List.of(List.of(Map.of("action", deep, "addr", 1L, "size", 1L))), List.of()));
    }

    @Test
    void shouldRefuseASizeThatIsNoNumber() throws IOException {
        final Path file = snapshot(List.of(List.of(Map.of("action", "alloc", "addr", 1L, "size", "many"))), List.of());

        assertProblem("snapshot: size=many must be a whole number", file);
    }

    private void assertProblem(final String problem, final Path file) {
        assertEquals(
                file + ", " + problem,
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file))
                        .getMessage());
    }

    private static Map<String, Object> block(final String state, final long sizeBytes) {
        return Map.of("state", state, "size", sizeBytes, "requested_size", sizeBytes - 24, "frames", List.of());
    }

    private static Map<String, Object> event(
            final String action, final long address, final long sizeBytes, final long micros, final Object... frames) {
        final Map<String, Object> event = new LinkedHashMap<>();
        event.put("action", action);
        event.put("addr", address);
        event.put("size", sizeBytes);
        event.put("stream", 7L);
        event.put("time_us", micros);
        event.put("frames", List.of(frames));
        return event;
    }

    private Path snapshot(final List<List<Map<String, Object>>> histories, final List<Map<String, Object>> segments)
            throws IOException {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {(byte) 0x80, 4});
        write(out, Map.of("device_traces", histories, "segments", segments));
        out.write('.');
        return Files.write(folder.resolve("memory_snapshot.pickle"), out.toByteArray());
    }

    /** Writes what Python writes, but for its memo. */
    private static void write(final ByteArrayOutputStream out, final Object object) {
        if (object instanceof final Map<?, ?> map) {
            out.write('}');
            out.write('(');
            map.forEach((key, value) -> {
                write(out, key);
                write(out, value);
            });
            out.write('u');
        } else if (object instanceof final List<?> list) {
            out.write(']');
            out.write('(');
            list.forEach(each -> write(out, each));
            out.write('e');
        } else if (object instanceof final Long number) {
            out.write(0x8A);
            out.write(Long.BYTES);
            out.writeBytes(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(number)
                    .array());
        } else {
            final byte[] text = object.toString().getBytes(StandardCharsets.UTF_8);
            out.write(0x8C);
            out.write(text.length);
            out.writeBytes(text);
        }
    }
}
