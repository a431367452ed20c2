package io.outboard.cuda.kernels;

import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.kernels.internal.KernelCalls;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUresult;

/**
 * Modules and launches are simulated without a GPU: the fake records what was loaded and launched, and fails on demand.
 */
final class FakeKernels implements KernelCalls {

    static final int MULTIPROCESSORS = 7;

    private final Map<Long, String> modules = new HashMap<>();
    private final Map<Long, List<String>> links = new HashMap<>();
    private final Map<Long, String> functions = new HashMap<>();
    private final List<String> launches = new ArrayList<>();
    private final Set<String> refused = new HashSet<>();
    private final long[] copied = new long[ObjectHeap.CONTROL_BYTES / Long.BYTES];
    private String log = "";
    private long mallocHeapBytes = 8L << 20;
    private long lastHandle = 0x1000;
    private int callsUntilFailure = Integer.MAX_VALUE;
    private int failureCode;

    /** Makes the n-th call from now fail, counting from 1, and no other. */
    void failAt(final int call, final int code) {
        callsUntilFailure = call;
        failureCode = code;
    }

    /** Returns whether the call that should fail was reached. */
    boolean hasFailed() {
        return callsUntilFailure <= 0;
    }

    /** Makes every text that contains {@code part} newer than the driver. */
    void refuse(final String part) {
        refused.add(part);
    }

    void say(final String compilerLog) {
        log = compilerLog;
    }

    /** Returns how many modules and links exist. */
    int live() {
        return modules.size() + links.size();
    }

    /** Returns the texts of the modules; for a linked module, all that were linked. */
    List<String> loaded() {
        return List.copyOf(modules.values());
    }

    /** Returns the launches, each as {@code name<<<blocks, threads>>>[arguments]}. */
    List<String> launches() {
        return launches;
    }

    void leaveStatistics(final long... words) {
        System.arraycopy(words, 0, copied, 0, words.length);
    }

    @Override
    public int load(final long[] module, final byte[] image, final String[] compilerLog) {
        compilerLog[0] = log;
        final String text = new String(image, StandardCharsets.UTF_8);
        final int code = enter(codeOf(text));
        if (code == CudaCalls.SUCCESS) {
            module[0] = ++lastHandle;
            modules.put(module[0], text);
        }
        return code;
    }

    @Override
    public int unload(final long module) {
        final int code = enter(modules.containsKey(module) ? CudaCalls.SUCCESS : CUresult.CUDA_ERROR_INVALID_HANDLE);
        modules.remove(module);
        return code;
    }

    @Override
    public int function(final long[] function, final long module, final String name) {
        final boolean there = Objects.requireNonNull(modules.get(module)).contains(".entry " + name + "(");
        final int code = enter(there ? CudaCalls.SUCCESS : CUresult.CUDA_ERROR_NOT_FOUND);
        if (code == CudaCalls.SUCCESS) {
            function[0] = ++lastHandle;
            functions.put(function[0], name);
        }
        return code;
    }

    @Override
    public int attribute(final int[] value, final int attribute, final long function) {
        value[0] = Objects.requireNonNull(functions.get(function)).length();
        return enter(CudaCalls.SUCCESS);
    }

    @Override
    public int launch(
            final long function,
            final int gridBlocks,
            final int blockThreads,
            final long stream,
            final NativePointerObject... arguments) {
        final int code = enter(CudaCalls.SUCCESS);
        if (code == CudaCalls.SUCCESS) {
            final long[] values = Arrays.stream(arguments)
                    .mapToLong(argument -> ((Pointer) argument)
                            .getByteBuffer()
                            .order(ByteOrder.nativeOrder())
                            .getLong(0))
                    .toArray();
            launches.add(functions.get(function) + "<<<" + gridBlocks + ", " + blockThreads + ">>>"
                    + Arrays.toString(values));
        }
        return code;
    }

    @Override
    public int createLink(final long[] link) {
        final int code = enter(CudaCalls.SUCCESS);
        if (code == CudaCalls.SUCCESS) {
            link[0] = ++lastHandle;
            links.put(link[0], new ArrayList<>());
        }
        return code;
    }

    @Override
    public int addToLink(final long link, final String name, final String ptx) {
        final int code = enter(codeOf(ptx));
        if (code == CudaCalls.SUCCESS) {
            Objects.requireNonNull(links.get(link)).add(ptx);
        }
        return code;
    }

    @Override
    public int completeLink(final long[] module, final long link) {
        final int code = enter(CudaCalls.SUCCESS);
        if (code == CudaCalls.SUCCESS) {
            module[0] = ++lastHandle;
            modules.put(module[0], String.join("", Objects.requireNonNull(links.get(link))));
        }
        return code;
    }

    @Override
    public int destroyLink(final long link) {
        links.remove(link);
        return enter(CudaCalls.SUCCESS);
    }

    @Override
    public int multiprocessors(final int[] count) {
        count[0] = MULTIPROCESSORS;
        return enter(CudaCalls.SUCCESS);
    }

    @Override
    public int mallocHeapBytes(final long[] bytes) {
        bytes[0] = mallocHeapBytes;
        return enter(CudaCalls.SUCCESS);
    }

    @Override
    public int setMallocHeapBytes(final long bytes) {
        mallocHeapBytes = bytes;
        return enter(CudaCalls.SUCCESS);
    }

    @Override
    public int copyToHost(final long[] words, final long address) {
        System.arraycopy(copied, 0, words, 0, words.length);
        return enter(CudaCalls.SUCCESS);
    }

    private int codeOf(final String text) {
        return refused.stream().anyMatch(text::contains)
                ? CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                : CudaCalls.SUCCESS;
    }

    private int enter(final int code) {
        return --callsUntilFailure == 0 ? failureCode : code;
    }
}
