package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.CudaUnavailableException;
import java.util.Locale;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * This class loads what calls CUDA when a device is requested, and says in one line why the loading fails, or why there
 * is no device. On JDK 21 and older, and with an old driver, that is JCuda with its native library; elsewhere it is the
 * driver's own library, beside JCuda's if JCuda is on the class path. Safe for any number of threads.
 *
 * <p>JCuda's static initialiser looks on {@code java.library.path}, then unpacks its library from the class path into
 * {@code java.io.tmpdir}, unless a file of that name is there already; a damaged file is thus never replaced. The first
 * failure is an {@link UnsatisfiedLinkError} with a page of text; every later failure, since the class stays broken, is
 * a {@link NoClassDefFoundError}.
 */
public final class NativeLibrary {

    /** The first JDK on which {@link DriverLibrary} makes all calls. */
    private static final int FIRST_RELEASE = 22;

    static final String NO_DRIVER = "no NVIDIA driver: libcuda.so.1 was not found; install driver 525 or newer, or give"
            + " the container its GPU (--gpus all)";

    private static final int REASON_LIMIT = 300;

    /** The calls of a loaded library. If two threads load at once, each sets the field; either value is as good. */
    private static volatile @Nullable CudaCalls loaded;

    private NativeLibrary() {}

    /** Loads the library, unless it is loaded, or throws a {@link CudaUnavailableException}. */
    public static CudaCalls load() {
        CudaCalls calls = loaded;
        if (calls == null) {
            try {
                calls = DriverLibrary.calls();
            } catch (final LinkageError e) {
                throw unavailable(e);
            }
            loaded = calls;
        }
        return calls;
    }

    /** Answers whether JCuda is on the class path, without initialising its class. */
    static boolean hasJCuda() {
        try {
            Class.forName("jcuda.runtime.JCuda", false, NativeLibrary.class.getClassLoader());
            return true;
        } catch (final ClassNotFoundException e) {
            return false;
        }
    }

    /** Answers whether JCuda is on the class path with a native library that loads. */
    static boolean loadsJCuda() {
        if (!hasJCuda()) {
            return false;
        }
        try {
            new JCudaCalls().driverVersion(new int[1]);
            return true;
        } catch (final LinkageError e) {
            return false;
        }
    }

    /**
     * Loads the library, and JCuda's class for the driver, too. The class needs a device: without one, it would stay
     * broken.
     */
    public static CudaCalls loadDriver() {
        final CudaCalls calls = load();
        deviceCount(calls);
        try {
            new JCudaCalls().currentContext(new long[1]);
            return calls;
        } catch (final LinkageError e) {
            throw unavailable(e);
        }
    }

    /** Counts devices, or throws a {@link CudaUnavailableException} if there is none. */
    public static int deviceCount(final CudaCalls calls) {
        final int[] count = new int[1];
        final int code = calls.deviceCount(count);
        if (code != CudaCalls.SUCCESS) {
            calls.clearLastError();
            throw new CudaUnavailableException(messageFor(calls, code));
        }
        if (count[0] == 0) {
            throw new CudaUnavailableException(messageFor(calls, cudaError.cudaErrorNoDevice));
        }
        return count[0];
    }

    /** Returns a remark for an error message that the environment hides devices; empty if it hides none. */
    public static String hiddenDevices() {
        final String visible = System.getenv("CUDA_VISIBLE_DEVICES");
        return visible == null ? "" : "; CUDA_VISIBLE_DEVICES=" + visible + " hides all others";
    }

    /** Makes the exception that is thrown instead of an error. */
    public static CudaUnavailableException unavailable(final LinkageError error) {
        return new CudaUnavailableException(messageFor(error), error);
    }

    private static String messageFor(final CudaCalls calls, final int code) {
        final String named = CudaFailures.runtimeNameOf(code) + " (" + code + ")";
        switch (code) {
            case cudaError.cudaErrorInsufficientDriver:
                final int[] version = new int[1];
                return calls.driverVersion(version) == CudaCalls.SUCCESS && version[0] > 0
                        ? "the NVIDIA driver is too old: it supports CUDA " + version[0] / 1000 + "."
                                + version[0] % 1000 / 10 + ", 12.0 is needed; install driver 525 or newer [" + named
                                + "]"
                        : NO_DRIVER + " [" + named + "]";
            case cudaError.cudaErrorNoDevice:
                return "no CUDA device: the NVIDIA driver is there but shows none; see what nvidia-smi lists"
                        + hiddenDevices() + " [" + named + "]";
            case cudaError.cudaErrorStubLibrary:
                return "no NVIDIA driver: the libcuda.so.1 that was found is the CUDA toolkit's stub; take its folder"
                        + " off LD_LIBRARY_PATH [" + named + "]";
            default:
                return "CUDA does not start; nvidia-smi may say more [" + named + "]";
        }
    }

    private static String messageFor(final LinkageError error) {
        if (error instanceof NoClassDefFoundError && error.getCause() instanceof ClassNotFoundException) {
            return "JCuda is not on the class path (" + oneLine(error.getMessage()) + "); add jcuda-12.6.0.jar and "
                    + nativesJar()
                    + (Runtime.version().feature() < FIRST_RELEASE
                            ? ", or use JDK 22 or newer, where pools need no JCuda"
                            : "");
        }
        return "JCuda's native library does not load (" + reasonOf(error) + "); put " + nativesJar()
                + " on the class path, delete any old libJCuda* in java.io.tmpdir="
                + System.getProperty("java.io.tmpdir") + ", and start again";
    }

    /** Finds the innermost line that names an error: JCuda packs stack traces of two attempts into one message. */
    private static String reasonOf(final LinkageError error) {
        Throwable innermost = error;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        final String message = String.valueOf(innermost.getMessage());
        String reason = oneLine(message);
        for (final String line : message.split("\\R", -1)) {
            final int named = Math.max(line.indexOf("Error: "), line.indexOf("Exception: "));
            if (named >= 0 && !line.startsWith("Error while loading")) {
                reason = oneLine(line.substring(line.indexOf(": ", named) + 2));
            }
        }
        return reason;
    }

    private static String oneLine(final @Nullable String text) {
        final String line = text == null
                ? "no reason given"
                : text.strip().lines().findFirst().orElse("no reason given");
        return line.length() <= REASON_LIMIT ? line : line.substring(0, REASON_LIMIT) + "...";
    }

    private static String nativesJar() {
        final boolean isLinux =
                System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("linux");
        return isLinux && "amd64".equals(System.getProperty("os.arch"))
                ? "jcuda-natives-12.6.0-linux-x86_64.jar"
                : "jcuda-natives-12.6.0 for this system (" + System.getProperty("os.name") + " "
                        + System.getProperty("os.arch") + ")";
    }
}
