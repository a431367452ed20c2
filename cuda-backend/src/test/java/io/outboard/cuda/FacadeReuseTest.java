package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.ReusePolicy;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory that a kernel may still write isn't handed out again, on simulated streams; see {@link HazardGpuTest}. */
class FacadeReuseTest {

    private static final long BLOCK_BYTES = FakeProgram.FIRST_REGION_BYTES / 4;
    private static final long NO_STREAM = 0;

    private final AtomicBoolean kernelFinished = new AtomicBoolean();

    /** Uses all but one block of the pool's only region, and a kernel that runs on that one. */
    private long launchOn(final FakeProgram program, final long stream) {
        final long block = program.malloc(BLOCK_BYTES);
        program.fill();
        submit(program, stream);
        return block;
    }

    private void submit(final FakeProgram program, final long stream) {
        program.cuda.streams().submit(program.cuda.currentContextOrZero(), stream, kernelFinished::get);
    }

    private static void assertNotHandedOut(final FakeProgram program, final long block) {
        final long other = program.malloc(BLOCK_BYTES);
        assertTrue(other + BLOCK_BYTES <= block || other >= block + BLOCK_BYTES, "handed out while in use");
        // Nothing is left but what waits.
        program.fill();
    }

    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    void shouldNotHandOutWhileAKernelRuns(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long block = launchOn(program, program.createStream());
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertAll(
                () -> assertEquals(block, program.malloc(BLOCK_BYTES)),
                () -> assertEquals(0, program.cuda.streams().synchronizations()));
    }

    @Test
    void shouldWaitForTheDeviceOnceForManyBlocksIfStrict() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
        final long first = program.malloc(BLOCK_BYTES);
        for (int i = 0; i < 100; i++) {
            assertEquals(0, program.free(program.malloc(256)));
        }
        final int before = program.cuda.streams().synchronizations();
        program.free(first);
        program.free(program.fill());

        program.malloc(4 * BLOCK_BYTES);

        assertAll(
                () -> assertEquals(0, before),
                () -> assertTrue(program.cuda.streams().synchronizations() <= 2),
                () -> assertEquals(0, program.cuda.streams().eventsCreated()));
    }

    @Test
    void shouldHandOutAtOnceIfImmediate() {
        final FakeProgram program = new FakeProgram(ReusePolicy.IMMEDIATE);
        final long block = launchOn(program, program.createStream());
        program.free(block);

        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    void shouldRememberTheWorkOfADestroyedStream(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.destroyStream(stream));
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    @Test
    void shouldRememberTheWorkOfAStreamThatIsDestroyedAfterTheFree() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));
        assertEquals(0, program.destroyStream(stream));

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    @Test
    void shouldHandOutAtOnceOnTheSameStreamIfStreamOrdered() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));

        assertEquals(block, program.mallocAsync(BLOCK_BYTES, stream));
    }

    @Test
    void shouldWaitOnAnotherStreamIfStreamOrdered() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));

        assertNotEquals(block, program.mallocAsync(BLOCK_BYTES, program.createStream()));
    }

    @Test
    void shouldBeSafeOnAStreamThatItDoesNotKnow() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        program.malloc(1);
        final long stream = program.cuda.streams().createStream(program.cuda.currentContextOrZero());
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));
        // Behind the facade's back.
        program.cuda.streams().destroyStream(stream);

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    @Test
    void shouldUseEventsAgain() {
        final FakeProgram program = new FakeProgram(ReusePolicy.TRACKED);
        program.createStream();
        for (int i = 0; i < 10_000; i++) {
            assertEquals(0, program.free(program.malloc(256)));
        }

        assertTrue(
                program.cuda.streams().eventsCreated() <= 4,
                "events: " + program.cuda.streams().eventsCreated());
    }

    @Test
    void shouldMarkTheDefaultStream() {
        final FakeProgram program = new FakeProgram(ReusePolicy.TRACKED);
        final long block = launchOn(program, NO_STREAM);
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);
    }
}
