package io.outboard.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import org.junit.jupiter.api.Test;

class DevicePointersTest {

    private static final long ADDRESS = 0x7f12_3456_7800L;

    @Test
    void shouldReadNullFromNewPointer() {
        assertEquals(0, DevicePointers.address(new Pointer()));
    }

    @Test
    void shouldReadWhatItSet() {
        final Pointer pointer = new Pointer();
        final CUdeviceptr devicePointer = new CUdeviceptr();

        DevicePointers.set(pointer, ADDRESS);
        DevicePointers.set(devicePointer, -256);

        assertAll(
                () -> assertEquals(ADDRESS, DevicePointers.address(pointer)),
                () -> assertEquals(-256, DevicePointers.address(devicePointer)));
    }

    @Test
    void shouldCountTheByteOffset() {
        final Pointer shifted = DevicePointers.pointerTo(ADDRESS).withByteOffset(512);

        assertEquals(ADDRESS + 512, DevicePointers.address(shifted));
    }

    @Test
    void shouldForgetTheByteOffsetOnSet() {
        final Pointer shifted = DevicePointers.pointerTo(ADDRESS).withByteOffset(512);

        DevicePointers.set(shifted, ADDRESS);

        assertEquals(ADDRESS, DevicePointers.address(shifted));
    }
}
