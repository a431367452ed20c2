package io.outboard.cuda.kernels;

import static io.outboard.cuda.Gpu.messageOf;
import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.Gpu;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.facade.GpuProgram;
import io.outboard.cuda.kernels.internal.DevicePtx;
import io.outboard.cuda.kernels.internal.KernelCalls;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.cuda.kernels.internal.NvrtcTest;
import io.outboard.pool.Pool;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** This class tests loading and linking by the driver. The twin without a GPU is {@link KernelModuleTest}. */
@Tag("gpu")
class KernelModuleGpuTest {

    private static final CUstream STREAM = new CUstream();

    @BeforeEach
    void requireGpu() {
        Gpu.require();
    }

    /** The kernel is the example of the README, with its list as the device sees it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldBuildALinkedListInAKernel(final boolean coalesced) {
        final CUdeviceptr list = HeapKernels.pointers(2);
        try (CudaMemorySource source = CudaMemorySource.open(0);
                Pool pool = Pool.over(source).firstRegionBytes(64L << 20).build();
                DeviceHeap heap = DeviceHeap.in(pool, 16L << 20).build();
                KernelModule kernels = coalesced
                        ? KernelModule.linkCoalesced(heap.allocator(), GpuProgram.text("linked-list.ptx.gz"))
                        : KernelModule.link(heap.allocator(), GpuProgram.text("linked-list.ptx.gz"))) {
            final Pointer address = Pointer.to(new long[] {heap.address()});
            final Pointer sum = Pointer.to(DevicePointers.pointerTo(DevicePointers.address(list) + Long.BYTES));

            kernels.launch("build", 64, 256, STREAM, address, Pointer.to(list));
            succeed(JCudaDriver.cuCtxSynchronize());
            assertEquals(64 * 256, heap.statistics().usedChunks());
            kernels.launch("takeDown", 1, 1, STREAM, address, Pointer.to(list), sum);

            final long[] words = new long[2];
            succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(words), list, 2L * Long.BYTES));
            assertEquals(0, words[0]);
            assertEquals(64L * 256 * (64 * 256 - 1) / 2, words[1]);
            assertEquals(0, heap.statistics().usedChunks());
            assertTrue(kernels.registers("build") > 0);
        } finally {
            succeed(JCudaDriver.cuMemFree(list));
        }
    }

    @Test
    void shouldLinkTheBuildThatIsAskedFor() {
        final String list = GpuProgram.text("linked-list.ptx.gz");

        try (KernelModule checked = KernelModule.linkChecked(DeviceAllocator.C_MALLOC, list);
                KernelModule both = KernelModule.linkCoalescedChecked(DeviceAllocator.CFM_MALLOC, list)) {
            assertAll(
                    () -> assertEquals("CMalloc-checked and kernels", nameOf(checked)),
                    () -> assertEquals("CFMMalloc-coalesced-checked and kernels", nameOf(both)));
        }
    }

    /** Returns a module's name in messages. */
    private static String nameOf(final KernelModule module) {
        return messageOf(assertThrows(IllegalArgumentException.class, () -> module.function("other")))
                .replace("kernel=other must be a kernel of the module ", "");
    }

    /** The driver itself refuses a text that is too new, and accepts what NVRTC made. */
    @Test
    void shouldLinkWhatNvrtcCompiles() {
        NvrtcTest.compile(DevicePtx.of(DeviceAllocator.CF_MALLOC.paperName(), true, false));
        final KernelCalls calls = KernelDriver.load().kernels();
        final List<Integer> codes = new ArrayList<>();
        final KernelCalls tooOld = (KernelCalls) Proxy.newProxyInstance(
                KernelCalls.class.getClassLoader(), new Class<?>[] {KernelCalls.class}, (proxy, method, arguments) -> {
                    if (!"addToLink".equals(method.getName())) {
                        return method.invoke(calls, arguments);
                    }
                    final String ptx = (String) arguments[2];
                    final String newer = ptx.contains("Made by cuda-backend/ptx.sh from allocator.cu")
                            ? ptx.replaceFirst("\\.version .*", ".version 99.9")
                            : ptx;
                    codes.add(calls.addToLink((long) arguments[0], (String) arguments[1], newer));
                    return codes.get(codes.size() - 1);
                });
        final KernelDriver driver =
                new KernelDriver(Gpu.require(), tooOld, KernelDriver.load().compiler());

        try (KernelModule module = KernelModule.link(
                driver,
                DevicePtx.of(DeviceAllocator.CF_MALLOC.paperName(), true, false),
                GpuProgram.text("linked-list.ptx.gz"))) {
            assertTrue(module.registers("build") > 0);
        }
        assertEquals(3, codes.size());
        assertTrue(KernelDriver.isRefusal(codes.get(0)), codes.toString());
    }

    @Test
    void shouldLoadAsRefusedWhatIsNewerThanTheDriver() {
        final String tooNew = DevicePtx.HEAP.text().replaceFirst("\\.version .*", ".version 99.9");

        final CudaFailureException thrown =
                assertThrows(CudaFailureException.class, () -> KernelModule.load("too new", tooNew));

        assertTrue(KernelDriver.isRefusal(thrown.code()), messageOf(thrown));
    }

    @Test
    void shouldSayWhatTheCompilerSays() {
        final String wrong = GpuProgram.text("linked-list.ptx.gz").replace("ret;", "retern;");

        final CudaFailureException linked =
                assertThrows(CudaFailureException.class, () -> KernelModule.link(DeviceAllocator.CFM_MALLOC, wrong));
        final CudaFailureException loaded =
                assertThrows(CudaFailureException.class, () -> KernelModule.load("wrong", wrong));

        assertAll(
                () -> assertTrue(messageOf(linked).contains("cuLinkAddData of userPtx[0]"), messageOf(linked)),
                () -> assertTrue(messageOf(linked).contains("retern"), messageOf(linked)),
                () -> assertTrue(messageOf(loaded).contains("retern"), messageOf(loaded)));
    }

    @Test
    void shouldNameAFunctionThatIsMissing() {
        final String wrong = GpuProgram.text("linked-list.ptx.gz").replace("outboardFree", "outboardRelease");

        final IllegalArgumentException thrown = assertThrows(
                IllegalArgumentException.class, () -> KernelModule.link(DeviceAllocator.CFM_MALLOC, wrong));

        assertTrue(messageOf(thrown).contains("userPtx calls [outboardRelease]"), messageOf(thrown));
    }

    @Test
    void shouldWorkWhereNoContextIsCurrent() throws InterruptedException {
        final Throwable[] failure = new Throwable[1];
        final Thread thread = new Thread(() -> {
            try (KernelModule module = KernelModule.load("fresh thread", DevicePtx.HEAP.text())) {
                module.function("outboardHeapFormat");
            }
        });
        thread.setUncaughtExceptionHandler((ended, thrown) -> failure[0] = thrown);
        thread.start();
        thread.join();

        assertEquals(null, failure[0]);
    }
}
