package io.outboard.cuda.kernels;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.facade.GpuProgram;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.kernels.internal.DevicePtx;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.cuda.kernels.internal.KernelLink;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** This class tests modules over a fake driver; {@link KernelModuleGpuTest} uses the real one. */
class KernelModuleTest {

    private static final DevicePtx OURS = DevicePtx.of(DeviceAllocator.CFM_MALLOC.paperName(), true, false);
    private static final String USER = ".visible .entry user(\n)\n{\n}\n";
    private static final String CALLS = ".extern .func outboardMalloc\n(\n)\n;\n.extern .func outboardFree\n(\n)\n;\n";
    private static final String COMPILED = "// compiled here\n";

    private final FakeCuda cuda = new FakeCuda(1);
    private final FakeKernels kernels = new FakeKernels();
    private final List<String> compiled = new ArrayList<>();
    private final KernelDriver driver = new KernelDriver(cuda, kernels, ptx -> {
        compiled.add(ptx.name());
        return COMPILED;
    });

    KernelModuleTest() {
        cuda.setDevice(0);
    }

    /** The first time, JCuda's class fails to load; from then on it is missing. */
    @Test
    void shouldSayEachTimeThatThereIsNoGpu() {
        Gpu.requireNone();

        for (int i = 0; i < 2; i++) {
            assertThrows(CudaUnavailableException.class, () -> KernelModule.load("kernels", USER));
            assertThrows(
                    CudaUnavailableException.class,
                    () -> DeviceHeap.over(256, 1L << 20).build());
        }
    }

    @Test
    void shouldLinkTheAllocatorFirst() {
        try (KernelModule module = KernelModule.link(driver, OURS, USER, "// more\n")) {
            assertEquals(List.of(OURS.text() + USER + "// more\n"), kernels.loaded());
            assertEquals(List.of(), compiled);
            assertEquals(1, kernels.live());
            assertSame(module.function("user"), module.function("user"));
        }
        assertEquals(0, kernels.live());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLinkTheCheckedBuild(final boolean coalesced) {
        final String name = DeviceAllocator.C_MALLOC.paperName();
        final DevicePtx checked = DevicePtx.of(name, coalesced, true);

        try (KernelModule module = KernelModule.link(driver, checked, USER)) {
            assertAll(
                    () -> assertEquals(4, module.registers("user")),
                    () -> assertEquals(List.of(checked.text() + USER), kernels.loaded()),
                    () -> assertEquals(List.of(), compiled),
                    () -> assertEquals(
                            "functions that no text defines: [], that more than one defines: []",
                            KernelLink.wrongFunctions(List.of(checked.text(), CALLS))));
        }
    }

    @Test
    void shouldCompileTheAllocatorIfTheDriverIsTooOldForItsPtx() {
        kernels.refuse("Made by");

        try (KernelModule module = KernelModule.link(driver, OURS, USER)) {
            assertEquals(List.of(COMPILED + USER), kernels.loaded());
            assertEquals(List.of("CFMMalloc-coalesced"), compiled);
            assertEquals(1, kernels.live());
            assertEquals(4, module.registers("user"));
        }
    }

    @Test
    void shouldCompileTheHeapsKernelsIfTheDriverIsTooOldForTheirPtx() {
        kernels.refuse("Made by");

        KernelModule.load(driver, DevicePtx.HEAP).close();

        assertEquals(List.of("device_heap"), compiled);
    }

    @Test
    void shouldNotCompileAnythingIfTheUsersPtxIsTooNew() {
        kernels.refuse(".entry user");
        kernels.say("Unsupported .version");

        final CudaFailureException thrown =
                assertThrows(CudaFailureException.class, () -> KernelModule.link(driver, OURS, "// fine\n", USER));

        assertAll(
                () -> assertEquals(
                        "cuLinkAddData of userPtx[1] failed: cudaErrorUnsupportedPtxVersion (222): Unsupported .version",
                        messageOf(thrown)),
                () -> assertEquals(List.of(), compiled),
                () -> assertEquals(0, kernels.live()));
    }

    @Test
    void shouldSayWhatTheDriverRefusesOfTheCompiledText() {
        kernels.refuse("//");

        final CudaFailureException thrown =
                assertThrows(CudaFailureException.class, () -> KernelModule.link(driver, OURS, USER));

        assertEquals(CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, thrown.code());
        assertEquals(0, kernels.live());
    }

    @Test
    void shouldPassOnThatThereIsNoCompiler() {
        kernels.refuse("Made by");
        final KernelDriver without = new KernelDriver(cuda, kernels, ptx -> {
            throw new CudaUnavailableException("install " + ptx.name());
        });

        assertAll(
                () -> assertEquals(
                        "install CFMMalloc-coalesced",
                        messageOf(assertThrows(
                                CudaUnavailableException.class, () -> KernelModule.link(without, OURS, USER)))),
                () -> assertEquals(
                        "install device_heap",
                        messageOf(assertThrows(
                                CudaUnavailableException.class, () -> KernelModule.load(without, DevicePtx.HEAP)))),
                () -> assertEquals(0, kernels.live()));
    }

    @Test
    void shouldLeaveNothingWhereverLinkingFails() {
        boolean failed = true;
        for (int call = 1; failed; call++) {
            kernels.failAt(call, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
            try {
                KernelModule.link(driver, OURS, USER).close();
            } catch (final CudaFailureException e) {
                assertEquals(CUresult.CUDA_ERROR_OUT_OF_MEMORY, e.code());
            }
            failed = kernels.hasFailed();
            assertEquals(0, kernels.live(), "call " + call);
            assertTrue(call < 20);
        }
    }

    @Test
    void shouldNameTheFunctionsThatAreMissingOrThereTwice() {
        final String user = """
                .extern .func  (.param .b64 func_retval0) outboardMalloc
                (
                	.param .b64 outboardMalloc_param_0
                )
                ;
                .extern .func helper
                (
                )
                ;
                .extern .func  (.param .b32 func_retval0) vprintf
                .visible .func  (.param .b64 func_retval0) twice(
                """;
        final String ours = """
                .visible .func  (.param .b64 func_retval0) outboardMalloc(
                .visible .func twice(
                """;

        assertEquals(
                "functions that no text defines: [helper], that more than one defines: [twice]",
                KernelLink.wrongFunctions(List.of(ours, user)));
    }

    /** The message of a failed link must be right about the code that nvcc makes. */
    @Test
    void shouldSeeThatTheExampleNeedsAnAllocatorAndNothingElse() {
        final String example = GpuProgram.text("linked-list.ptx.gz");

        assertAll(
                () -> assertEquals(
                        "functions that no text defines: [outboardFree, outboardMalloc], that more than one defines: []",
                        KernelLink.wrongFunctions(List.of(example))),
                () -> assertEquals(
                        "functions that no text defines: [], that more than one defines: []",
                        KernelLink.wrongFunctions(List.of(OURS.text(), example))));
    }

    @Test
    void shouldNameAKernelThatIsNotThere() {
        try (KernelModule module = KernelModule.link(driver, OURS, USER)) {
            assertEquals(
                    "kernel=other must be a kernel of the module CFMMalloc-coalesced and kernels",
                    messageOf(assertThrows(IllegalArgumentException.class, () -> module.function("other"))));
        }
    }

    @Test
    void shouldRefuseALaunchWithoutThreads() {
        try (KernelModule module = KernelModule.link(driver, OURS, USER)) {
            assertAll(
                    () -> assertEquals(
                            "gridBlocks=0 must be > 0",
                            messageOf(assertThrows(
                                    IllegalArgumentException.class,
                                    () -> module.launch("user", 0, 1, new CUstream())))),
                    () -> assertEquals(
                            "blockThreads=-1 must be > 0",
                            messageOf(assertThrows(
                                    IllegalArgumentException.class,
                                    () -> module.launch("user", 1, -1, new CUstream())))),
                    () -> assertEquals(List.of(), kernels.launches()));
        }
    }

    @Test
    void shouldRefuseEverythingOnceClosed() {
        final KernelModule module = KernelModule.link(driver, OURS, USER);
        module.function("user");
        module.close();
        module.close();

        assertAll(
                () -> assertThrows(IllegalStateException.class, () -> module.function("user")),
                () -> assertThrows(IllegalStateException.class, () -> module.registers("user")),
                () -> assertThrows(IllegalStateException.class, () -> module.launch("user", 1, 1, new CUstream())));
    }

    @Test
    void shouldRefuseToLinkNothing() {
        assertEquals(
                "userPtx=[] must have one text at least",
                messageOf(assertThrows(
                        IllegalArgumentException.class, () -> KernelModule.link(DeviceAllocator.CFM_MALLOC))));
    }

    @ParameterizedTest
    @EnumSource(names = {"ATOMIC_MALLOC", "AW_MALLOC", "CUDA_MALLOC", "XMALLOC"})
    void shouldRefuseToLinkACheckedBuildThatThereIsNot(final DeviceAllocator allocator) {
        final String message = "allocator=" + allocator + " must have a checked build";

        assertAll(
                () -> assertEquals(
                        message,
                        messageOf(assertThrows(
                                IllegalArgumentException.class, () -> KernelModule.linkChecked(allocator, USER)))),
                () -> assertEquals(
                        message,
                        messageOf(assertThrows(
                                IllegalArgumentException.class,
                                () -> KernelModule.linkCoalescedChecked(allocator, USER)))));
    }
}
