package io.outboard.cuda.internal.memory;

import static io.outboard.cuda.internal.memory.DriverLibrary.Functions.function;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.outboard.cuda.internal.memory.DriverLibrary.Functions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;

/**
 * This class makes all calls by {@code java.lang.foreign}, for JDK 22 and newer: the driver answers in 0.04
 * microseconds what takes 0.1 to 0.2 through JCuda (H100, driver 580, 2026-11-27). JCuda isn't needed: the
 * compiler makes numbers of its constants below. The functions are those that {@code cuda.h} of CUDA 12 names, with the
 * legacy default stream.
 *
 * <p>The calls of the runtime are made of the driver's, as the runtime of CUDA 12 does them. A thread without a context
 * is on device 0, since this class doesn't know which device another runtime older than 12 has chosen for the thread.
 * The first choice of a device retains its primary context for the life of the process, as the runtime's does.
 *
 * <p>Calls that a pool makes often leave no garbage, except for a segment of 8 bytes for each thread, virtual threads
 * included.
 */
class ForeignCalls implements CudaCalls {

    // The handles are constants, so that calls are compiled.
    private static final MethodHandle DEVICE_COUNT = function("cuDeviceGetCount", ADDRESS);
    private static final MethodHandle DRIVER_VERSION = function("cuDriverGetVersion", ADDRESS);
    private static final MethodHandle DEVICE_NAME = function("cuDeviceGetName", ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle PRIMARY_STATE =
            function("cuDevicePrimaryCtxGetState", JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle RETAIN_PRIMARY = function("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
    private static final MethodHandle RELEASE_PRIMARY = function("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
    private static final MethodHandle CONTEXT_DEVICE = function("cuCtxGetDevice", ADDRESS);
    private static final MethodHandle SET_CONTEXT = function("cuCtxSetCurrent", JAVA_LONG);
    private static final MethodHandle CURRENT_CONTEXT = function("cuCtxGetCurrent", ADDRESS);
    private static final MethodHandle PUSH_CONTEXT = function("cuCtxPushCurrent_v2", JAVA_LONG);
    private static final MethodHandle POP_CONTEXT = function("cuCtxPopCurrent_v2", ADDRESS);
    private static final MethodHandle SYNCHRONIZE = function("cuCtxSynchronize");
    private static final MethodHandle MEMORY_INFO = function("cuMemGetInfo_v2", ADDRESS, ADDRESS);
    private static final MethodHandle ALLOCATE = function("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
    private static final MethodHandle ALLOCATE_PITCH =
            function("cuMemAllocPitch_v2", ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle FREE = function("cuMemFree_v2", JAVA_LONG);
    private static final MethodHandle FILL = function("cuMemsetD8Async", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle READ = function("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SYNCHRONIZE_STREAM = function("cuStreamSynchronize", JAVA_LONG);
    private static final MethodHandle STREAM_CONTEXT = function("cuStreamGetCtx", JAVA_LONG, ADDRESS);
    private static final MethodHandle STREAM_ID = newFunction("cuStreamGetId", JAVA_LONG, ADDRESS);
    private static final MethodHandle QUERY_STREAM = function("cuStreamQuery", JAVA_LONG);
    private static final MethodHandle CAPTURE_STATUS = function("cuStreamIsCapturing", JAVA_LONG, ADDRESS);
    private static final MethodHandle EXCHANGE_MODE = function("cuThreadExchangeStreamCaptureMode", ADDRESS);
    private static final MethodHandle CREATE_EVENT = function("cuEventCreate", ADDRESS, JAVA_INT);
    private static final MethodHandle DESTROY_EVENT = function("cuEventDestroy_v2", JAVA_LONG);
    private static final MethodHandle RECORD_EVENT = function("cuEventRecord", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle RECORD_CONTEXT = newFunction("cuCtxRecordEvent", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle QUERY_EVENT = function("cuEventQuery", JAVA_LONG);

    private static final boolean RECORDS_CONTEXTS =
            Functions.LIBRARY.find("cuCtxRecordEvent").isPresent();

    private static final int MOST_NAME_BYTES = 256;

    /** The memory into which the driver writes an answer of 8 or 4 bytes. */
    private static final ThreadLocal<MemorySegment> ANSWER =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(JAVA_LONG));

    /** The devices whose primary contexts this class has retained. */
    private static final Set<Integer> RETAINED = ConcurrentHashMap.newKeySet();

    /** This interface is a call whose lambda captures nothing, and so makes no garbage. */
    private interface Call {
        int call(long first, long second) throws Throwable;
    }

    /** This interface is the same for a question. */
    private interface Question {
        int ask(long of, MemorySegment answer) throws Throwable;
    }

    /** Finds a function that the driver may be too old for; then a substitute says that it isn't supported. */
    private static MethodHandle newFunction(final String name, final MemoryLayout... parameters) {
        if (Functions.LIBRARY.find(name).isPresent()) {
            return function(name, parameters);
        }
        return MethodHandles.dropArguments(
                MethodHandles.constant(int.class, CUresult.CUDA_ERROR_NOT_SUPPORTED),
                0,
                FunctionDescriptor.of(JAVA_INT, parameters).toMethodType().parameterList());
    }

    private static int call(final Call call, final long first, final long second) {
        try {
            return call.call(first, second);
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    /** Asks a question; the answer is 0 if the driver gives none. */
    private static int ask(final Question question, final long of, final long[] answer) {
        final MemorySegment segment = ANSWER.get();
        segment.set(JAVA_LONG, 0, 0);
        try {
            final int code = question.ask(of, segment);
            answer[0] = segment.get(JAVA_LONG, 0);
            return code;
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    /** Makes a call whose answer is an int: the driver's only byte order is little-endian. */
    private static int callForInt(final int[] to, final DriverLibrary.ResultCall call) {
        final long[] answer = {to[0]};
        final int code = DriverLibrary.call(answer, call);
        to[0] = (int) answer[0];
        return code;
    }

    // The calls below are the runtime's.

    private static int initialize() {
        return call((no, nor) -> (int) Functions.INITIALIZE.invokeExact(0), 0, 0);
    }

    @Override
    public int deviceCount(final int[] count) {
        final int code = initialize();
        return code == SUCCESS ? callForInt(count, (result, arena) -> (int) DEVICE_COUNT.invokeExact(result)) : code;
    }

    @Override
    public int driverVersion(final int[] version) {
        return callForInt(version, (result, arena) -> (int) DRIVER_VERSION.invokeExact(result));
    }

    /** {@inheritDoc} The version is 0, since there is no runtime. */
    @Override
    public int runtimeVersion(final int[] version) {
        version[0] = 0;
        return SUCCESS;
    }

    @Override
    public int deviceName(final String[] name, final int device) {
        return DriverLibrary.call(new long[1], (unused, arena) -> {
            final MemorySegment result = arena.allocate(MOST_NAME_BYTES);
            final int code = (int) DEVICE_NAME.invokeExact(result, MOST_NAME_BYTES, device);
            if (code == SUCCESS) {
                name[0] = result.getString(0).strip();
            }
            return code;
        });
    }

    @Override
    public int currentDevice(final int[] device) {
        final long[] answer = CallScratch.get().handle;
        int code = currentContext(answer);
        if (answer[0] == 0) {
            // A thread may ask before anything has started the driver.
            code = initialize();
        } else {
            code = ask((no, result) -> (int) CONTEXT_DEVICE.invokeExact(result), 0, answer);
        }
        device[0] = (int) answer[0];
        return code;
    }

    @Override
    public int setDevice(final int device) {
        final long[] context = new long[1];
        int code = primaryContext(context, device);
        // A reset of the device ends its context, though not the references; one more makes the context anew.
        if (code == SUCCESS && (context[0] == 0 || !RETAINED.contains(device))) {
            code = retainPrimaryContext(context, device);
            if (code == SUCCESS) {
                RETAINED.add(device);
            }
        }
        return code == SUCCESS ? call((of, no) -> (int) SET_CONTEXT.invokeExact(of), context[0], 0) : code;
    }

    @Override
    public int memoryInfo(final long[] freeBytes, final long[] totalBytes) {
        final int[] device = new int[1];
        final long[] context = new long[1];
        int code = currentDevice(device);
        if (code == SUCCESS) {
            code = currentContext(context);
        }
        if (code == SUCCESS && context[0] == 0) {
            code = setDevice(device[0]);
        }
        return code == SUCCESS ? contextMemoryInfo(freeBytes, totalBytes) : code;
    }

    /** {@inheritDoc} The driver has none. */
    @Override
    public void clearLastError() {
        // Only the runtime keeps an error.
    }

    // The calls below are the driver's.

    @Override
    public int currentContext(final long[] context) {
        return ask((no, answer) -> (int) CURRENT_CONTEXT.invokeExact(answer), 0, context);
    }

    @Override
    public int pushContext(final long context) {
        return call((of, no) -> (int) PUSH_CONTEXT.invokeExact(of), context, 0);
    }

    @Override
    public int popContext() {
        return ask((no, answer) -> (int) POP_CONTEXT.invokeExact(answer), 0, CallScratch.get().handle);
    }

    @Override
    public int synchronize() {
        return call((no, nor) -> (int) SYNCHRONIZE.invokeExact(), 0, 0);
    }

    @Override
    public int streamContext(final long[] context, final long stream) {
        return stream == 0
                ? currentContext(context)
                : ask((of, answer) -> (int) STREAM_CONTEXT.invokeExact(of, answer), stream, context);
    }

    @Override
    public int primaryContext(final long[] context, final int device) {
        final int[] active = new int[1];
        context[0] = 0;
        int code = callForInt(
                active, (result, arena) -> (int) PRIMARY_STATE.invokeExact(device, arena.allocate(JAVA_INT), result));
        if (code == SUCCESS && active[0] != 0) {
            // The driver tells the primary context's handle only to a caller that retains the context.
            code = retainPrimaryContext(context, device);
            if (code == SUCCESS) {
                code = call((of, no) -> (int) RELEASE_PRIMARY.invokeExact((int) of), device, 0);
            }
        }
        return code;
    }

    @Override
    public int retainPrimaryContext(final long[] context, final int device) {
        return DriverLibrary.call(context, (result, arena) -> (int) RETAIN_PRIMARY.invokeExact(result, device));
    }

    @Override
    public int allocate(final long[] address, final long sizeBytes) {
        return DriverLibrary.call(address, (result, arena) -> (int) ALLOCATE.invokeExact(result, sizeBytes));
    }

    @Override
    public int allocatePitch(final long[] address, final long[] pitchBytes, final long widthBytes, final long height) {
        return DriverLibrary.call(address, (result, arena) -> {
            final MemorySegment pitch = arena.allocate(JAVA_LONG);
            final int code = (int) ALLOCATE_PITCH.invokeExact(result, pitch, widthBytes, height, Integer.BYTES);
            pitchBytes[0] = pitch.get(JAVA_LONG, 0);
            return code;
        });
    }

    @Override
    public int release(final long address) {
        return call((of, no) -> (int) FREE.invokeExact(of), address, 0);
    }

    @Override
    public int fill(final long address, final long sizeBytes, final byte value) {
        // The parameter is an unsigned char, which callers pass as an int.
        return onThreadStream(stream -> (int) FILL.invokeExact(address, Byte.toUnsignedInt(value), sizeBytes, stream));
    }

    @Override
    public int read(final ByteBuffer to, final long address) {
        final MemorySegment host = MemorySegment.ofBuffer(to);
        return onThreadStream(stream -> (int) READ.invokeExact(host, address, host.byteSize(), stream));
    }

    /** This interface submits work to a stream. */
    private interface Submission {
        int submit(long stream) throws Throwable;
    }

    /** Submits work to the thread's own default stream, and waits for it. */
    private static int onThreadStream(final Submission submission) {
        return DriverLibrary.call(() -> {
            final int code = submission.submit(StreamCaptures.PER_THREAD_STREAM);
            return code == SUCCESS ? (int) SYNCHRONIZE_STREAM.invokeExact(StreamCaptures.PER_THREAD_STREAM) : code;
        });
    }

    @Override
    public int contextMemoryInfo(final long[] freeBytes, final long[] totalBytes) {
        return DriverLibrary.call(freeBytes, (result, arena) -> {
            final MemorySegment total = arena.allocate(JAVA_LONG);
            final int code = (int) MEMORY_INFO.invokeExact(result, total);
            totalBytes[0] = total.get(JAVA_LONG, 0);
            return code;
        });
    }

    @Override
    public int streamId(final long[] id, final long stream) {
        return ask((of, answer) -> (int) STREAM_ID.invokeExact(of, answer), stream, id);
    }

    @Override
    public int queryStream(final long stream) {
        return call((of, no) -> (int) QUERY_STREAM.invokeExact(of), stream, 0);
    }

    @Override
    public int createEvent(final long[] event) {
        return DriverLibrary.call(event, (result, arena) ->
                (int) CREATE_EVENT.invokeExact(result, CUevent_flags.CU_EVENT_DISABLE_TIMING));
    }

    @Override
    public int destroyEvent(final long event) {
        return call((of, no) -> (int) DESTROY_EVENT.invokeExact(of), event, 0);
    }

    @Override
    public int recordEvent(final long event, final long stream) {
        return call((of, on) -> (int) RECORD_EVENT.invokeExact(of, on), event, stream);
    }

    @Override
    public boolean recordsContexts() {
        return RECORDS_CONTEXTS;
    }

    @Override
    public int recordContext(final long event, final long context) {
        return call((in, of) -> (int) RECORD_CONTEXT.invokeExact(in, of), context, event);
    }

    @Override
    public int queryEvent(final long event) {
        return call((of, no) -> (int) QUERY_EVENT.invokeExact(of), event, 0);
    }

    @Override
    public int captureStatus(final int[] status, final long stream) {
        final long[] answer = CallScratch.get().handle;
        final int code = ask((of, result) -> (int) CAPTURE_STATUS.invokeExact(of, result), stream, answer);
        status[0] = (int) answer[0];
        return code;
    }

    @Override
    public int exchangeCaptureMode(final int[] mode) {
        return callForInt(mode, (result, arena) -> {
            result.set(JAVA_INT, 0, mode[0]);
            return (int) EXCHANGE_MODE.invokeExact(result);
        });
    }
}
