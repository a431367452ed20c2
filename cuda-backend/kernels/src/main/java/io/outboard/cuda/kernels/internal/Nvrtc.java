package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.driver.CudaUnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import jcuda.CudaException;
import jcuda.nvrtc.JNvrtc;
import jcuda.nvrtc.nvrtcProgram;
import jcuda.nvrtc.nvrtcResult;
import org.jspecify.annotations.Nullable;

/** This class compiles by NVRTC, CUDA's compiler as a library, which isn't part of the driver. */
final class Nvrtc implements PtxCompiler {

    /** The options of the compiler, which the script {@code ptx.sh} has, too. */
    private static final List<String> OPTIONS = List.of("--gpu-architecture=compute_75", "--std=c++17");

    /**
     * The headers of host compilers that kernels include. They are empty here, as NVRTC itself defines what kernels
     * need of them.
     */
    private static final String[] HOST_HEADERS = {"stddef.h", "string.h"};

    private static final String[] HOST_HEADER_TEXTS = {"\n", "\n"};

    private static final String NEEDS = "the driver is too old for the PTX in Outboard's jar, and to compile it here ";

    @Override
    public String compile(final DevicePtx ptx) {
        try {
            succeed("nvrtcVersion", () -> JNvrtc.nvrtcVersion(new int[1], new int[1]));
        } catch (final LinkageError e) {
            throw new CudaUnavailableException(
                    NEEDS
                            + "needs NVRTC: install libnvrtc.so.12 (CUDA 12, package cuda-nvrtc-12-6) where the system finds it"
                            + " (LD_LIBRARY_PATH), or a newer driver",
                    e);
        }
        final List<Path> toolkit = toolkitIncludes();
        try {
            final Path headers = Files.createTempDirectory("outboard-headers");
            try {
                DevicePtx.exportHeaders(headers);
                return compile(ptx, Stream.concat(Stream.of(headers), toolkit.stream()));
            } finally {
                delete(headers);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(
                    "java.io.tmpdir=" + System.getProperty("java.io.tmpdir") + " must be writable", e);
        }
    }

    private static String compile(final DevicePtx ptx, final Stream<Path> includes) {
        final List<String> options = new ArrayList<>(OPTIONS);
        options.addAll(ptx.options());
        includes.forEach(folder -> options.add("--include-path=" + folder));
        final String[] all = options.toArray(new String[0]);
        final nvrtcProgram program = new nvrtcProgram();
        final String[] text = {""};
        succeed(
                "nvrtcCreateProgram",
                () -> JNvrtc.nvrtcCreateProgram(
                        program, ptx.sourceText(), ptx.source(), HOST_HEADERS.length, HOST_HEADER_TEXTS, HOST_HEADERS));
        try {
            final String failure = failureOf(() -> JNvrtc.nvrtcCompileProgram(program, all.length, all));
            if (!failure.isEmpty()) {
                succeed("nvrtcGetProgramLog", () -> JNvrtc.nvrtcGetProgramLog(program, text));
                throw new CudaUnavailableException(
                        NEEDS + "failed: nvrtcCompileProgram of " + ptx.source() + ": " + failure + "\n" + text[0]);
            }
            succeed("nvrtcGetPTX", () -> JNvrtc.nvrtcGetPTX(program, text));
            return text[0];
        } finally {
            succeed("nvrtcDestroyProgram", () -> JNvrtc.nvrtcDestroyProgram(program));
        }
    }

    /**
     * Finds the folders for includes: {@code cuda/atomic} is in the second folder since CUDA 13, and in the first
     * before.
     */
    private static List<Path> toolkitIncludes() {
        return Stream.of(System.getenv("CUDA_HOME"), System.getenv("CUDA_PATH"), "/usr/local/cuda")
                .filter(Nvrtc::isToolkit)
                .findFirst()
                .map(root -> List.of(Path.of(root, "include"), Path.of(root, "include", "cccl")))
                .orElseThrow(
                        () -> new CudaUnavailableException(NEEDS + "needs the headers of the CUDA toolkit: install it"
                                + " and let CUDA_HOME name its folder, or install a newer driver"));
    }

    private static boolean isToolkit(final @Nullable String root) {
        return root != null && Files.exists(Path.of(root, "include", "cuda.h"));
    }

    private static void succeed(final String call, final IntSupplier code) {
        final String failure = failureOf(code);
        if (!failure.isEmpty()) {
            throw new CudaUnavailableException(NEEDS + "failed: " + call + ": " + failure);
        }
    }

    /** Answers the name of the error of a call, with JCuda's exceptions on or off; empty if the call worked. */
    private static String failureOf(final IntSupplier call) {
        try {
            final int code = call.getAsInt();
            return code == nvrtcResult.NVRTC_SUCCESS ? "" : nvrtcResult.stringFor(code);
        } catch (final CudaException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static void delete(final Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
