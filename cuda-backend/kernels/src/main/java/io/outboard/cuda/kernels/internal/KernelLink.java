package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaFailures;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jcuda.runtime.cudaError;

/**
 * A link joins an allocator's PTX and kernels' PTX, by the driver. Confined to one thread.
 *
 * <p>JCuda has no safe way to the linker's log, see {@link JCudaKernelCalls#createLink}. So the cause of a failure is
 * searched for separately: a text that doesn't compile is loaded by itself, which gives a log. If all texts compile,
 * functions are missing or defined twice, which shows in the texts.
 */
public final class KernelLink implements AutoCloseable {

    /** The pattern of a declaration ({@code extern}) or a definition, with or without a result. */
    private static final Pattern FUNCTION = Pattern.compile(
            "^\\s*\\.(extern|visible|weak)\\s+\\.func\\s*(?:\\([^)]*\\))?\\s*([\\w$]+)", Pattern.MULTILINE);

    /** The functions that the driver defines. */
    private static final Set<String> OF_DRIVER = Set.of("malloc", "free", "vprintf", "__assertfail");

    private final KernelDriver driver;
    private final long link;
    private final List<String> texts = new ArrayList<>();
    private final long[] module = new long[1];

    private KernelLink(final KernelDriver driver) {
        final long[] created = new long[1];
        CudaFailures.check("cuLinkCreate", driver.kernels().createLink(created));
        this.driver = driver;
        link = created[0];
    }

    /** Links in the current context, and returns the loaded module. */
    public static long link(final KernelDriver driver, final DevicePtx ours, final String... userPtx) {
        try (KernelLink link = new KernelLink(driver)) {
            final int code = link.add(ours.name(), ours.text());
            if (!KernelDriver.isRefusal(code)) {
                return link.complete(ours.name(), code, userPtx);
            }
        }
        final String compiled = driver.compiler().compile(ours);
        try (KernelLink link = new KernelLink(driver)) {
            return link.complete(ours.name(), link.add(ours.name(), compiled), userPtx);
        }
    }

    private int add(final String name, final String ptx) {
        texts.add(ptx);
        return driver.kernels().addToLink(link, name, ptx);
    }

    private long complete(final String name, final int added, final String... userPtx) {
        checkAdded(name, added);
        for (int i = 0; i < userPtx.length; i++) {
            final String user = "userPtx[" + i + "]";
            checkAdded(user, add(user, userPtx[i]));
        }
        checkOurs(texts);
        final int code = driver.kernels().completeLink(module, link);
        if (code != CudaCalls.SUCCESS) {
            throw new CudaFailureException("cuLinkComplete", code, cudaError.stringFor(code), wrongFunctions(texts));
        }
        return module[0];
    }

    private void checkAdded(final String name, final int code) {
        if (code != CudaCalls.SUCCESS) {
            final byte[] text = texts.get(texts.size() - 1).getBytes(StandardCharsets.UTF_8);
            final long[] alone = new long[1];
            final String[] log = {""};
            if (driver.kernels().load(alone, text, log) == CudaCalls.SUCCESS) {
                driver.kernels().unload(alone[0]);
            }
            throw new CudaFailureException("cuLinkAddData of " + name, code, cudaError.stringFor(code), log[0]);
        }
    }

    /** Refuses calls of functions that nobody defines: driver 580 links such calls, which crash when they are made. */
    private static void checkOurs(final List<String> texts) {
        final Set<String> missing = new TreeSet<>();
        findWrong(texts, missing, new TreeSet<>());
        missing.removeIf(name -> !name.startsWith("outboard"));
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException("userPtx calls " + missing
                    + " but must call no functions of Outboard's but outboardMalloc,"
                    + " outboardAlignedMalloc and outboardFree");
        }
    }

    /** Says which functions no text defines, and which functions several texts define. */
    public static String wrongFunctions(final List<String> texts) {
        final Set<String> missing = new TreeSet<>();
        final Set<String> twice = new TreeSet<>();
        findWrong(texts, missing, twice);
        return "functions that no text defines: " + missing + ", that more than one defines: " + twice;
    }

    private static void findWrong(final List<String> texts, final Set<String> missing, final Set<String> twice) {
        final Set<String> defined = new HashSet<>(OF_DRIVER);
        for (final String text : texts) {
            final Matcher function = FUNCTION.matcher(text);
            while (function.find()) {
                final String name = function.group(2);
                if ("extern".equals(function.group(1))) {
                    missing.add(name);
                } else if (!defined.add(name) && "visible".equals(function.group(1))) {
                    twice.add(name);
                }
            }
        }
        missing.removeAll(defined);
    }

    @Override
    public void close() {
        final int code = driver.kernels().destroyLink(link);
        if (code != CudaCalls.SUCCESS && module[0] != 0) {
            // The caller gets an exception instead of the module.
            driver.kernels().unload(module[0]);
        }
        CudaFailures.check("cuLinkDestroy", code);
    }
}
