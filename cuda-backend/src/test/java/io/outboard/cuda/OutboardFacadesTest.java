package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.DevicePointers;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Stream;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * This class tests that the facades can take the place of JCuda's classes: the signatures are the same, and without a
 * GPU so are the answers.
 */
class OutboardFacadesTest {

    @TestFactory
    Stream<DynamicTest> shouldHaveJCudasSignatures() {
        Gpu.requireLibrary();
        return Stream.concat(
                functionsOf(OutboardRuntime.class, JCuda.class), functionsOf(OutboardDriver.class, JCudaDriver.class));
    }

    private static Stream<DynamicTest> functionsOf(final Class<?> facade, final Class<?> original) {
        return Arrays.stream(facade.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()))
                .map(method -> DynamicTest.dynamicTest(method.getName(), () -> assertSame(method, original)));
    }

    /** Compares signatures without loading JCuda's class, since loading the driver's needs a driver. */
    private static void assertSame(final Method method, final Class<?> original) {
        final Method same =
                assertDoesNotThrow(() -> original.getDeclaredMethod(method.getName(), method.getParameterTypes()));
        assertAll(
                () -> assertEquals(same.getReturnType(), method.getReturnType()),
                () -> assertTrue(Modifier.isStatic(method.getModifiers())));
    }

    @Test
    void shouldAnswerAsJCudaWhereThereIsNoGpu() {
        Gpu.requireNone();
        Gpu.requireLibrary();
        final int expected = JCuda.cudaMalloc(new Pointer(), 1);
        final Pointer pointer = DevicePointers.pointerTo(1);

        assertAll(
                () -> assertTrue(expected != 0),
                () -> assertEquals(expected, OutboardRuntime.cudaMalloc(pointer, 1)),
                () -> assertEquals(0, DevicePointers.address(pointer)),
                () -> assertEquals(JCuda.cudaMalloc(new Pointer(), 0), OutboardRuntime.cudaMalloc(new Pointer(), 0)),
                () -> assertEquals(JCuda.cudaFree(new Pointer()), OutboardRuntime.cudaFree(new Pointer())),
                () -> assertEquals(
                        JCuda.cudaMemGetInfo(new long[1], new long[1]),
                        OutboardRuntime.cudaMemGetInfo(new long[1], new long[1])),
                () -> assertEquals(JCuda.cudaSetDevice(0), OutboardRuntime.cudaSetDevice(0)),
                () -> assertEquals(JCuda.cudaDeviceReset(), OutboardRuntime.cudaDeviceReset()),
                () -> assertTrue(Outboard.poolOf(0).isEmpty()));
    }

    @Test
    void shouldThrowAsJCudaWhereThereIsNoGpu() {
        Gpu.requireNone();
        Gpu.requireLibrary();
        OutboardRuntime.setExceptionsEnabled(true);
        try {
            final CudaException expected = assertThrows(CudaException.class, () -> JCuda.cudaMalloc(new Pointer(), 1));

            final CudaException thrown =
                    assertThrows(CudaException.class, () -> OutboardRuntime.cudaMalloc(new Pointer(), 1));

            assertEquals(expected.getMessage(), thrown.getMessage());
        } finally {
            OutboardRuntime.setExceptionsEnabled(false);
        }
        assertTrue(OutboardRuntime.cudaMalloc(new Pointer(), 1) != 0);
    }

    @Test
    @SuppressWarnings("NullAway")
    void shouldTreatAJavaNullAsJCuda() {
        Gpu.requireLibrary();
        final NullPointerException expected = assertThrows(NullPointerException.class, () -> JCuda.cudaMalloc(null, 1));

        final NullPointerException thrown =
                assertThrows(NullPointerException.class, () -> OutboardRuntime.cudaMalloc(null, 1));

        assertAll(
                () -> assertEquals(expected.getMessage(), thrown.getMessage()),
                () -> assertThrows(NullPointerException.class, () -> OutboardRuntime.cudaFree(null)));
    }
}
