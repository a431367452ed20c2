package io.outboard.cuda.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.kernels.internal.PtxTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceHeadersTest {

    @TempDir
    private Path folder;

    @Test
    void shouldWriteEachHeader() throws IOException {
        final Path include = folder.resolve("not/there/yet");

        final List<Path> files = DeviceHeaders.export(include);

        assertEquals(PtxTest.files(include.resolve("outboard"), ".cuh"), files);
        assertTrue(files.contains(include.resolve("outboard/cfm_malloc.cuh")));
        for (final Path file : files) {
            assertTrue(Files.readString(file).contains("#pragma once"), file.toString());
        }
    }

    @Test
    void shouldReplaceWhatWasThere() throws IOException {
        final Path header = DeviceHeaders.export(folder).get(0);
        final String text = Files.readString(header);
        Files.writeString(header, "old");

        DeviceHeaders.export(folder);

        assertEquals(text, Files.readString(header));
    }

    @Tag("thorough")
    @Test
    void shouldLetAKernelBeCompiled() throws IOException, InterruptedException {
        Assumptions.assumeTrue(run("nvcc", "--version") == 0, "skipped, needs nvcc");
        final Path include = folder.resolve("include");
        DeviceHeaders.export(include);
        final Path kernel = folder.resolve("kernel.cu");
        Files.writeString(kernel, """
                #include "outboard/cfm_malloc.cuh"

                extern "C" __global__ void touch(outboard::Heap* heap) {
                    outboard::Coalesced<outboard::CFMMalloc> allocator{heap};
                    void* block = allocator.malloc(threadIdx.x);
                    allocator.free(block);
                }
                """);

        final int code = run(
                "nvcc",
                "-ptx",
                "-std=c++17",
                "-I",
                include.toString(),
                kernel.toString(),
                "-o",
                folder.resolve("kernel.ptx").toString());

        assertEquals(0, code, () -> output());
        assertTrue(Files.readString(folder.resolve("kernel.ptx")).contains(".entry touch("));
    }

    /** Returns the exit code; -1 if there is no such program. */
    private int run(final String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("output.txt").toFile())
                    .start()
                    .waitFor();
        } catch (final IOException e) {
            return -1;
        }
    }

    private String output() {
        try {
            return Files.readString(folder.resolve("output.txt"), StandardCharsets.UTF_8);
        } catch (final IOException e) {
            return e.toString();
        }
    }
}
