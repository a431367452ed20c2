package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.ReusePolicy;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import jcuda.driver.CUdeviceptr;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A program writes where it mustn't, and standard error says so. */
class FacadePoisonTest {

    private static final Pattern FOUND = Pattern.compile(
            "(?<![.\\w])io\\.outboard\\.pool\\.MemoryCorruptionException: .* was written at offset (\\d+), (\\w+)");

    private final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @BeforeEach
    void configure() {
        program.pools.configure(OutboardOptions.defaults().withMemoryCheck(true));
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void close() {
        System.setErr(before);
    }

    /** Returns the offset and a word of each report since the last call. */
    private String found() {
        final StringBuilder all = new StringBuilder();
        FOUND.matcher(printed.toString(StandardCharsets.UTF_8))
                .results()
                .forEach(each -> all.append(each.group(1)).append(each.group(2)));
        printed.reset();
        return all.toString();
    }

    @Test
    void shouldPrintWhatAFreeFinds() {
        final long address = program.malloc(1000);
        program.cuda.write(address + 1001, 7);

        assertEquals(0, program.free(address));

        final String lines = printed.toString(StandardCharsets.UTF_8);
        assertEquals("1001behind", found());
        assertTrue(lines.contains("Suppressed: java.lang.Throwable: allocated here"), lines);
        assertTrue(lines.contains("Suppressed: java.lang.Throwable: freed here"), lines);
    }

    @Test
    void shouldPrintWhatAFreeOnAStreamFinds() {
        final long stream = program.createStream(false);
        assertEquals(0, program.free(program.malloc(1)));
        final long address = program.mallocAsync(1000, stream);
        program.cuda.write(address + 1001, 7);

        assertEquals(0, program.freeAsync(address, stream));

        assertEquals("1001behind", found());
    }

    @Test
    void shouldCheckBeforeTheDeviceIsReset() {
        final long used = program.malloc(1000);
        final long freed = program.malloc(1000);
        assertEquals(0, program.free(freed));
        program.cuda.write(used + 1002, 7);
        program.cuda.write(freed + 3, 7);

        assertEquals(0, program.runtime.cudaDeviceReset());

        assertEquals("1002behind3after", found());
        assertEquals(0, program.free(program.malloc(1000)));
        assertEquals("", found());
    }

    @Test
    void shouldLeaveMemoryAloneDuringACapture() {
        final long stream = program.createStream();
        final long address = program.malloc(1000);
        program.cuda.write(address + 1001, 7);
        assertEquals(0, program.beginCapture(stream));

        assertEquals(0, program.free(address));
        assertEquals(0, program.free(program.malloc(1000)));

        assertEquals(0, program.endCapture(stream));
        assertEquals("", found());
    }

    @Test
    void shouldTellTheSizeThatWasAskedFor() {
        final long address = program.malloc(1000);
        final CUdeviceptr begin = new CUdeviceptr();
        final long[] sizeBytes = new long[1];

        assertEquals(0, program.driver.cuMemGetAddressRange(begin, sizeBytes, FakeProgram.pointerTo(address + 999)));

        assertEquals(address, DevicePointers.address(begin));
        assertEquals(1000, sizeBytes[0]);
    }
}
