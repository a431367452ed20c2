package io.outboard.cuda.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DeviceAllocatorTest {

    @ParameterizedTest
    @EnumSource
    void shouldBeFoundByItsName(final DeviceAllocator allocator) {
        assertSame(allocator, DeviceAllocator.named(allocator.paperName()));
    }

    @Test
    void shouldNameAllWhenNoneHasTheName() {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> DeviceAllocator.named("cfmmalloc"));

        assertEquals(
                "paperName=cfmmalloc must be one of [BitMalloc, AtomicMalloc, AWMalloc, CMalloc, CFMalloc, CMMalloc, CFMMalloc,"
                        + " CudaMalloc, XMalloc]",
                thrown.getMessage());
    }

    @Test
    void shouldSayWhichCannotFree() {
        assertEquals(
                List.of(DeviceAllocator.ATOMIC_MALLOC, DeviceAllocator.AW_MALLOC),
                Arrays.stream(DeviceAllocator.values())
                        .filter(allocator -> !allocator.canFree())
                        .toList());
    }

    @Test
    void shouldSayWhichUseTheDriversHeap() {
        assertEquals(
                List.of(DeviceAllocator.CUDA_MALLOC, DeviceAllocator.XMALLOC),
                Arrays.stream(DeviceAllocator.values())
                        .filter(DeviceAllocator::usesDriverHeap)
                        .toList());
    }

    @Test
    void shouldSayWhichHaveACheckedBuild() {
        assertEquals(
                List.of(
                        DeviceAllocator.BIT_MALLOC,
                        DeviceAllocator.C_MALLOC,
                        DeviceAllocator.CF_MALLOC,
                        DeviceAllocator.CM_MALLOC,
                        DeviceAllocator.CFM_MALLOC),
                Arrays.stream(DeviceAllocator.values())
                        .filter(DeviceAllocator::hasCheckedBuild)
                        .toList());
    }
}
