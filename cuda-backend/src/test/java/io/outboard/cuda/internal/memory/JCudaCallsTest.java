package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.util.List;
import jcuda.CudaException;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaStream_t;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class JCudaCallsTest {

    @Test
    void shouldFindTheCodeOfEachException() {
        for (final int code : new int[] {1, 2, 35, 46, 100, 101, 700, 719, 999}) {
            assertEquals(code, JCudaCalls.codeOf(new CudaException(cudaError.stringFor(code))));
        }
    }

    @Test
    void shouldCallAnUnheardOfExceptionUnknown() {
        assertEquals(cudaError.cudaErrorUnknown, JCudaCalls.codeOf(new CudaException("no such name")));
    }

    /**
     * The test uses the runtime's class, since the driver's needs a driver; whatever {@link UncheckedCalls} finds there
     * exists.
     */
    @Test
    void shouldAskBelowJCudasCheck() throws Throwable {
        Gpu.requireLibrary();
        final MethodHandle query = UncheckedCalls.find(JCuda.class, "cudaStreamQueryNative", cudaStream_t.class);
        final cudaStream_t stream = new cudaStream_t();
        final int expected = JCuda.cudaStreamQuery(stream);
        JCuda.setExceptionsEnabled(true);
        try {
            assertEquals(expected, (int) query.invokeExact(stream));
        } finally {
            JCuda.setExceptionsEnabled(false);
        }
        assertNotNull(UncheckedCalls.find(JCudaDriver.class, "cuEventQueryNative", CUevent.class));
        assertNotNull(UncheckedCalls.find(JCudaDriver.class, "cuStreamQueryNative", CUstream.class));
    }

    /** The calls by the driver are tested beside those by JCuda. */
    @Test
    @Tag("gpu")
    void shouldFillAndReadMemory() {
        for (final CudaCalls calls : List.of(Gpu.require(), new JCudaCalls())) {
            final long[] address = new long[1];
            final ByteBuffer bytes = ByteBuffer.allocateDirect(9).limit(8);

            assertEquals(0, calls.setDevice(0));
            assertEquals(0, calls.allocate(address, 1000));
            assertEquals(0, calls.fill(address[0], 1000, (byte) 0xA5));
            assertEquals(0, calls.fill(address[0] + 996, 1, (byte) 7));
            assertEquals(0, calls.read(bytes, address[0] + 992));
            assertEquals(0, calls.release(address[0]));

            assertEquals(0xA5A5_A5A5_07A5_A5A5L, bytes.getLong(0));
            assertEquals(0, bytes.limit(9).get(8));
        }
    }

    @Test
    void shouldReturnTheSameCodesWhenJCudaThrows() {
        Gpu.requireNone();
        final CudaCalls calls = Gpu.requireLibrary();
        final int returned = calls.memoryInfo(new long[1], new long[1]);

        JCuda.setExceptionsEnabled(true);
        try {
            assertAll(
                    () -> assertThrows(CudaException.class, () -> JCuda.cudaMemGetInfo(new long[1], new long[1])),
                    () -> assertTrue(returned != CudaCalls.SUCCESS, "returned=" + returned),
                    () -> assertEquals(returned, calls.memoryInfo(new long[1], new long[1])),
                    () -> assertEquals(returned, calls.deviceCount(new int[1])),
                    () -> assertEquals(returned, calls.setDevice(0)),
                    () -> assertEquals(returned, calls.deviceName(new String[1], 0)));
            calls.clearLastError();
        } finally {
            JCuda.setExceptionsEnabled(false);
        }
    }
}
