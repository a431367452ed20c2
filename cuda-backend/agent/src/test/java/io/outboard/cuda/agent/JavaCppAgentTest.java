package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.fake.FakeCudart;
import examples.fake.JavaCppProgram;
import io.outboard.cuda.agent.Jvm.Outcome;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** This class tests a program that calls CUDA by JavaCPP's published class, whose natives are a fake's. */
@Tag("agent-jar")
class JavaCppAgentTest {

    private static final String PROGRAM = JavaCppProgram.class.getName();

    @TempDir
    static Path binding;

    @TempDir
    static Path fake;

    @TempDir
    Path folder;

    @BeforeAll
    static void writeFakes() throws IOException {
        FakeJCuda.writeTo(fake);
        try (FileSystem files = FileSystems.newFileSystem(Jvm.homeOf(cudart.class))) {
            for (final String name : List.of(
                    "global/cudart", "cudart/cudaPitchedPtr", "cudart/cudaExtent", "cudart/CUipcMemHandle_v1")) {
                final Path original = files.getPath("org/bytedeco/cuda/" + name + ".class");
                FakeJCuda.write(binding, original, FakeCudart.class, "<clinit>");
            }
        }
    }

    /** CUDA's own answers differ: it has no blocks, its fake has no rows, and a pool isn't counted as free. */
    @Test
    void shouldRunTheFakeWithoutTheAgent() throws Exception {
        final Outcome outcome = jvm().run(PROGRAM);

        assertEquals(
                List.of(
                        "runtime: 0, 103 allocations, 103 frees",
                        "driver: 12288, 108 allocations, 108 frees",
                        "rows: 49152, 108 allocations, 110 frees",
                        "streams: 0, 108 allocations, 110 frees",
                        "wrong: 0 0 0 2 true 0 0 1, 110 allocations, 114 frees",
                        "contexts: 0, 111 allocations, 115 frees",
                        "driver: 111 allocations, 0 frees"),
                outcome.out(),
                () -> outcome.err().toString());
    }

    /** Of the program's own calls, a free of null reaches CUDA; of the pools', regions of two contexts and a pitch. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
    void shouldServeAnUnmodifiedProgram() throws Exception {
        final Outcome outcome = jvm().agent("report").run(PROGRAM);

        assertEquals(
                List.of(
                        "runtime: 0, 0 allocations, 0 frees",
                        "driver: 0, 0 allocations, 0 frees",
                        "rows: 0, 0 allocations, 0 frees",
                        "streams: 0, 0 allocations, 0 frees",
                        "wrong: 1 0 1 2 true 801 0 1, 0 allocations, 1 frees",
                        "contexts: 0, 0 allocations, 1 frees",
                        "driver: 3 allocations, 2 frees"),
                outcome.out(),
                () -> outcome.err().toString());
        assertTrue(
                outcome.err().contains("outboard-agent: redirected 52 functions of org.bytedeco.cuda.global.cudart"),
                () -> outcome.err().toString());
    }

    /** A pool calls the driver itself, which makes its first 64 MiB of pages of 2 MiB. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
    void shouldServeAProgramWithoutJCuda(@TempDir final Path driver) throws Exception {
        FakeDriver.compileTo(driver);

        final Outcome outcome = jvm(List.of()).libraries(driver).agent("report").run(PROGRAM, "of one stream");

        assertEquals(0, outcome.exitCode(), () -> outcome.err().toString());
        assertEquals(
                List.of("runtime: 0, 0 allocations, 0 frees, cuMemCreate 32", "driver: 0, 0 allocations, 0 frees"),
                FakeDriver.summarise(outcome.out(), "cuMem(Alloc|Create|Free).*"),
                () -> outcome.err().toString());
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "for a JDK without java.lang.foreign")
    void shouldSayThatAnOlderJdkCannotBeServed() throws Exception {
        final Outcome outcome = jvm().agent("").run(PROGRAM);

        assertEquals(
                List.of("outboard-agent: class=org.bytedeco.cuda.global.cudart isn't redirected, so calls of it stay as"
                        + " they are: JDK 22 or newer is needed"),
                outcome.err());
    }

    private Jvm jvm() {
        return jvm(List.of(fake, Jvm.homeOf(jcuda.Pointer.class)));
    }

    private Jvm jvm(final List<Path> jcuda) {
        final List<Path> paths = new ArrayList<>(jcuda);
        paths.addAll(List.of(
                binding,
                Jvm.homeOf(cudart.class),
                Jvm.homeOf(Pointer.class),
                Jvm.homeOf("/org/bytedeco/javacpp/linux-x86_64/libjnijavacpp.so"),
                Jvm.homeOf(JavaCppProgram.class)));
        return new Jvm(folder)
                .classPath(paths)
                // Where JavaCPP unpacks its library.
                .option("-Dorg.bytedeco.javacpp.cachedir=" + folder);
    }
}
