package io.outboard.cuda.kernels.internal;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.kernels.DeviceAllocator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** This class tests NVRTC, which needs no GPU, but mostly libnvrtc.so.12 and the headers of a CUDA toolkit. */
public class NvrtcTest {

    /** Returns texts that together have each header at least once. */
    static Stream<DevicePtx> some() {
        return Stream.of(
                DevicePtx.HEAP,
                DevicePtx.OBJECTS,
                DevicePtx.XMALLOC,
                DevicePtx.of(DeviceAllocator.AW_MALLOC.paperName(), true, false),
                DevicePtx.of(DeviceAllocator.CM_MALLOC.paperName(), false, false),
                DevicePtx.of(DeviceAllocator.CFM_MALLOC.paperName(), true, false),
                DevicePtx.of(DeviceAllocator.C_MALLOC.paperName(), false, true),
                DevicePtx.of(DeviceAllocator.CUDA_MALLOC.paperName(), true, false),
                DevicePtx.of(DeviceAllocator.XMALLOC.paperName(), true, false));
    }

    @ParameterizedTest
    @MethodSource("some")
    void shouldCompileWhatTheJarHasAsPtx(final DevicePtx ptx) {
        final String text = compile(ptx);

        // Both texts have the same functions for callers from outside.
        assertEquals(entries(ptx.text()), entries(text));
    }

    /** Returns what the NVRTC of this machine makes, or skips the test. */
    public static String compile(final DevicePtx ptx) {
        try {
            return new Nvrtc().compile(ptx);
        } catch (final CudaUnavailableException e) {
            Assumptions.assumeFalse(messageOf(e).contains("install"), "skipped: " + messageOf(e));
            throw e;
        }
    }

    private static String entries(final String ptx) {
        return ptx.lines()
                .filter(line -> line.startsWith(".visible "))
                .map(line -> line.replaceAll("\\s+", " "))
                .sorted()
                .toList()
                .toString();
    }

    @Test
    void shouldSayEachTimeWhatToInstall() {
        try {
            new Nvrtc().compile(DevicePtx.HEAP);
            Assumptions.abort("skipped, there is NVRTC");
        } catch (final CudaUnavailableException e) {
            Assumptions.assumeTrue(messageOf(e).contains("NVRTC: install"), "skipped: " + messageOf(e));
        }

        final String message =
                messageOf(assertThrows(CudaUnavailableException.class, () -> new Nvrtc().compile(DevicePtx.HEAP)));

        assertEquals(1, message.lines().count());
        assertTrue(message.contains("install libnvrtc.so.12") && message.contains("LD_LIBRARY_PATH"), message);
    }
}
