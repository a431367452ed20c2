package uk.ac.manchester.tornado.drivers.cuda.ffm;

import examples.fake.FakeNatives;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The class has some of the driver's functions by java.lang.foreign, or by a fake, for programs of these tests. Only the name and the
 * functions' shapes are those of TornadoVM's class, so that the agent takes this class for it; none of the code is
 * TornadoVM's.
 */
public final class CUDADriverAPI {

    private CUDADriverAPI() {}

    public static int cuInit(final int flags) {
        return call("cuInit", flags);
    }

    public static int cuDeviceGet(final MemorySegment device, final int number) {
        return call("cuDeviceGet", device, number);
    }

    public static int cuCtxCreate(final MemorySegment context, final int flags, final int device) {
        return call("cuCtxCreate_v2", context, flags, device);
    }

    public static int cuCtxSetCurrent(final long context) {
        return call("cuCtxSetCurrent", context);
    }

    public static int cuCtxSynchronize() {
        return call("cuCtxSynchronize");
    }

    public static int cuCtxDestroy(final long context) {
        return call("cuCtxDestroy_v2", context);
    }

    public static int cuStreamCreate(final MemorySegment stream, final int flags) {
        return call("cuStreamCreate", stream, flags);
    }

    public static int cuStreamDestroy(final long stream) {
        return call("cuStreamDestroy_v2", stream);
    }

    public static int cuStreamBeginCapture(final long stream, final int mode) {
        return call("cuStreamBeginCapture_v2", stream, mode);
    }

    public static int cuStreamEndCapture(final long stream, final MemorySegment graph) {
        return call("cuStreamEndCapture", stream, graph);
    }

    public static int cuGraphDestroy(final long graph) {
        return call("cuGraphDestroy", graph);
    }

    public static int cuMemAlloc(final MemorySegment devicePointer, final long sizeBytes) {
        return call("cuMemAlloc_v2", devicePointer, sizeBytes);
    }

    public static int cuMemFree(final long devicePointer) {
        return call("cuMemFree_v2", devicePointer);
    }

    public static int cuMemsetD8Async(final long devicePointer, final byte value, final long count, final long stream) {
        return call("cuMemsetD8Async", devicePointer, value, count, stream);
    }

    public static int cuMemcpyDtoHAsync(
            final MemorySegment to, final long devicePointer, final long sizeBytes, final long stream) {
        return call("cuMemcpyDtoHAsync_v2", to, devicePointer, sizeBytes, stream);
    }

    /** Looks all functions up anew, since no test measures it. */
    @SuppressWarnings("restricted")
    private static int call(final String name, final Object... arguments) {
        if (Boolean.getBoolean("fake.driver")) {
            return callFake(name, arguments);
        }
        final MemoryLayout[] parameters =
                Arrays.stream(arguments).map(CUDADriverAPI::layoutOf).toArray(MemoryLayout[]::new);
        final MemorySegment function = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global())
                .find(name)
                .orElseThrow();
        try {
            return (int) Linker.nativeLinker()
                    .downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters))
                    .invokeWithArguments(arguments);
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static int callFake(final String name, final Object... arguments) {
        final Result result = new Result();
        final int code = switch (name) {
            case "cuCtxCreate_v2" -> FakeNatives.cuCtxCreateNative(result, 0, arguments);
            case "cuMemAlloc_v2" -> FakeNatives.cuMemAllocNative(result, (long) arguments[1]);
            case "cuMemFree_v2" -> FakeNatives.cuMemFreeNative(arguments[0]);
            default -> 0;
        };
        if (result.nativePointer != 0) {
            ((MemorySegment) arguments[0]).set(ValueLayout.JAVA_LONG, 0, result.nativePointer);
        }
        return code;
    }

    /** The fake sets a field of this name. */
    private static final class Result {
        private long nativePointer;
    }

    private static MemoryLayout layoutOf(final Object argument) {
        return switch (argument) {
            case Byte number -> ValueLayout.JAVA_BYTE;
            case Integer number -> ValueLayout.JAVA_INT;
            case Long number -> ValueLayout.JAVA_LONG;
            default -> ValueLayout.ADDRESS;
        };
    }
}
