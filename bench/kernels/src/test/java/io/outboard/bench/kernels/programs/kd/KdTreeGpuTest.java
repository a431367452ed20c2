package io.outboard.bench.kernels.programs.kd;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.device.GpuDevice;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.MadeKernels;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class runs the quick cases on a device, without CUDA's own heap, which has one size as long as the process
 * lives.
 */
@Tag("gpu")
class KdTreeGpuTest {

    private final KdTree program = new KdTree();

    @BeforeEach
    void needsAGpu() {
        GpuDevice.require();
    }

    @Test
    void shouldBuildTheSameTreeAsTheCpu() {
        final KdBuilder reference =
                KdBuilder.build(KdScene.of(20_000), KdDevice.LEAF_REFERENCES, KdDevice.mostDepth(20_000));
        try (BenchDevice device = new BenchDevice(0)) {
            for (final Store store : program.stores()) {
                if (store.isCuda()) {
                    continue;
                }
                final String result = run(program.cases(store, true).get(0), device);

                final List<String> expected = List.of(
                        "\"mismatches\":0,",
                        "\"faults\":0,",
                        "\"refused\":0,",
                        "\"nodes\":" + reference.tree().count() + ",",
                        "\"requests\":" + reference.requests().requests() + ",",
                        store.allocator().orElseThrow().canFree() ? "\"misuses\":0,\"leaked\":0" : "\"leaked\":null");
                expected.forEach(part -> assertTrue(result.contains(part), part + " must be in " + result));
            }
        }
    }

    /**
     * The heaps have room for some of the lists up to two levels below the root, so the build ends at another place
     * with each, also where a large node is divided.
     */
    @ParameterizedTest
    @ValueSource(longs = {70_000, 95_000, 115_000, 135_000})
    void shouldTellThatAHeapIsTooSmallAndFreeAllThereIs(final long heapBytes) {
        try (BenchDevice device = new BenchDevice(0)) {
            final ProgramCase enough =
                    program.cases(new Store("BitMalloc"), true).get(0);

            final String result = run(
                    new ProgramCase(enough.program(), enough.store(), "20k-1x", enough.mode(), heapBytes, 1), device);

            assertTrue(result.contains("\"status\":\"refused\""), result);
            assertTrue(!result.contains("\"refused\":0,"), result);
            assertTrue(result.contains("\"misuses\":0,\"leaked\":0"), result);
        }
    }

    private String run(final ProgramCase work, final BenchDevice device) {
        MadeKernels.require(List.of(work));
        return program.run(work, device).toString();
    }
}
