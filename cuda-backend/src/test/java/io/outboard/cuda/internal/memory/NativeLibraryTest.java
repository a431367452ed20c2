package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertSame;

import io.outboard.cuda.Gpu;
import org.junit.jupiter.api.Test;

class NativeLibraryTest {

    /**
     * Facades load with each operation on a stream; a function looked up each time let 16 threads make 1.3 million of
     * them a second, not 24.
     */
    @Test
    void shouldLookForTheLibraryOnce() {
        final CudaCalls loaded = Gpu.requireLibrary();

        assertSame(loaded, NativeLibrary.load());
    }
}
