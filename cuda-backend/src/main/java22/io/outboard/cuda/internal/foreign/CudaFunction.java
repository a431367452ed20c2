package io.outboard.cuda.internal.foreign;

import io.outboard.cuda.internal.facade.Binding.Place;
import io.outboard.cuda.internal.facade.Facade;
import io.outboard.cuda.internal.foreign.BoundCall.Member;
import io.outboard.cuda.internal.foreign.BoundCall.Parameter;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A function of CUDA that a facade stands for, with what its parameters are: {@code r} a place into which the function
 * writes 8 bytes, {@code v} a number, an address or a handle, {@code n} a number, {@code s} a stream, {@code -} something that isn't looked
 * at, and {@code *} at the end whatever the versions of the function have more. The order of the parameters is that of
 * CUDA's own headers, which all bindings have.
 *
 * @param ofRuntime whether the function is the runtime's, and not the driver's
 * @param parameters their kinds
 * @param adapter how a facade is put in the place of a binding's function
 */
record CudaFunction(boolean ofRuntime, String parameters, Adapter adapter) {

    /** Makes what stands for a binding's function, but for conversions that {@link MethodHandle#asType} makes. */
    interface Adapter {
        MethodHandle adapt(Supplier<Facade> facade, List<Place<Object>> places, MethodHandle original);
    }

    /** This interface is what a facade does for a call. */
    interface Action {
        int call(Facade facade, BoundCall call);
    }

    private static final Parameter FIRST = new Parameter(0);
    private static final Parameter SECOND = new Parameter(1);

    // The structures cudaPitchedPtr, four numbers of 8 bytes: pointer, pitch, width, height; and cudaExtent, three:
    // width, height, depth.
    private static final Member SLICES = new Member(0, 0);
    private static final Member SLICES_PITCH = new Member(0, 8);
    private static final Member SLICES_WIDTH = new Member(0, 16);
    private static final Member SLICES_HEIGHT = new Member(0, 24);
    private static final Member EXTENT_WIDTH = new Member(1, 0);
    private static final Member EXTENT_HEIGHT = new Member(1, 8);
    private static final Member EXTENT_DEPTH = new Member(1, 16);

    private static final Map<String, CudaFunction> BY_NAME = byName();

    /** Answers the function of a name, in any version; null if no facade stands for it. */
    static @Nullable CudaFunction named(final String name) {
        return BY_NAME.get(FunctionNames.baseOf(name));
    }

    /** Answers the names of all functions, without versions. */
    static Set<String> names() {
        return BY_NAME.keySet();
    }

    private static Map<String, CudaFunction> byName() {
        final Map<String, CudaFunction> all = new HashMap<>();
        addAdapter(all, "rn", FrequentCalls::allocation, "cudaMalloc", "cuMemAlloc");
        addAdapter(all, "v", FrequentCalls::free, "cudaFree", "cuMemFree");
        add(
                all,
                "rvs",
                (facade, call) -> facade.allocateAsync(
                        call, FIRST, call.get(1), call, call.get(2), (pointer, bytes, stream) -> stream.getAsInt()),
                "cudaMallocAsync",
                "cuMemAllocAsync");
        add(
                all,
                "vs",
                (facade, call) ->
                        facade.freeAsync(call, FIRST, call, call.get(1), (pointer, stream) -> stream.getAsInt()),
                "cudaFreeAsync",
                "cuMemFreeAsync");
        add(
                all,
                "rrvv",
                (facade, call) -> facade.allocateRows(call, FIRST, call, SECOND, call.get(2), call.get(3), call),
                "cudaMallocPitch");
        add(
                all,
                "rrvvv",
                (facade, call) -> facade.allocateRows(
                        call,
                        FIRST,
                        // The driver refuses other sizes of elements.
                        Set.of(4L, 8L, 16L).contains(call.get(4)) ? call : null,
                        SECOND,
                        call.get(2),
                        call.get(3),
                        call),
                "cuMemAllocPitch");
        add(all, "vv", CudaFunction::allocateSlices, "cudaMalloc3D");
        add(all, "rr", (facade, call) -> facade.memoryInfo(call, FIRST, call), "cudaMemGetInfo", "cuMemGetInfo");
        add(
                all,
                "rrv",
                (facade, call) -> facade.addressRange(call, FIRST, call, SECOND, call.get(2), call),
                "cuMemGetAddressRange");
        add(
                all,
                "-v",
                (facade, call) -> facade.shareMemory(call, call, SECOND, call),
                "cudaIpcGetMemHandle",
                "cuIpcGetMemHandle");
        add(
                all,
                "v",
                (facade, call) -> facade.destroyStream(call.get(0), call),
                "cudaStreamDestroy",
                "cuStreamDestroy");
        add(
                all,
                "s*",
                (facade, call) -> facade.beginCapture(call.get(0), call),
                "cudaStreamBeginCapture",
                "cuStreamBeginCapture",
                "cudaStreamBeginCaptureToGraph",
                "cuStreamBeginCaptureToGraph");
        add(
                all,
                "s-",
                (facade, call) -> facade.endCapture(call.get(0), call),
                "cudaStreamEndCapture",
                "cuStreamEndCapture");
        addContexts(all);
        return Map.copyOf(all);
    }

    private static void addContexts(final Map<String, CudaFunction> all) {
        add(
                all,
                "-",
                (facade, call) -> facade.choose(call),
                "cudaSetDevice",
                "cudaGLSetGLDevice",
                "cuCtxSetCurrent",
                "cuCtxPushCurrent",
                "cuCtxPopCurrent");
        add(all, "", (facade, call) -> facade.resetDevice(call), "cudaDeviceReset", "cudaThreadExit");
        add(
                all,
                "v-",
                (facade, call) -> facade.changeViewOfDevice(true, (int) call.get(0), call),
                "cudaDeviceEnablePeerAccess");
        add(
                all,
                "v",
                (facade, call) -> facade.changeViewOfDevice(false, (int) call.get(0), call),
                "cudaDeviceDisablePeerAccess");
        add(all, "v-", (facade, call) -> facade.changeView(true, call.get(0), call), "cuCtxEnablePeerAccess");
        add(all, "v", (facade, call) -> facade.changeView(false, call.get(0), call), "cuCtxDisablePeerAccess");
        final Action make = (facade, call) -> facade.make(() -> FIRST.get(call), call);
        add(all, "r*", make, "cuCtxCreate", "cuGLCtxCreate");
        add(all, "r-", make, "cuDevicePrimaryCtxRetain");
        add(all, "v", (facade, call) -> facade.end(call.get(0), true, call), "cuCtxDestroy");
        add(all, "v", (facade, call) -> facade.end(call.get(0), false, call), "cuCtxDetach");
        add(all, "v", (facade, call) -> facade.endPrimary((int) call.get(0), false, call), "cuDevicePrimaryCtxRelease");
        add(all, "v", (facade, call) -> facade.endPrimary((int) call.get(0), true, call), "cuDevicePrimaryCtxReset");
    }

    private static void add(
            final Map<String, CudaFunction> all, final String parameters, final Action action, final String... names) {
        addAdapter(
                all,
                parameters,
                (facade, places, original) ->
                        BoundCall.adapt(call -> action.call(facade.get(), call), places, original),
                names);
    }

    private static void addAdapter(
            final Map<String, CudaFunction> all,
            final String parameters,
            final Adapter adapter,
            final String... names) {
        for (final String name : names) {
            all.put(name, new CudaFunction(name.startsWith("cuda"), parameters, adapter));
        }
    }

    MethodHandle adapt(final Supplier<Facade> facade, final List<Place<Object>> places, final MethodHandle original) {
        return adapter.adapt(facade, places, original);
    }

    private static int allocateSlices(final Facade facade, final BoundCall call) {
        final long height = EXTENT_HEIGHT.get(call);
        final long depth = EXTENT_DEPTH.get(call);
        final boolean ordinary = height > 0 && depth > 0 && depth <= Long.MAX_VALUE / height;
        final int code = facade.allocateRows(
                call,
                SLICES,
                ordinary ? call : null,
                SLICES_PITCH,
                EXTENT_WIDTH.get(call),
                ordinary ? height * depth : 0,
                call);
        // A structure in the Java heap has no address, and CUDA has set these members itself.
        if (code == 0 && EXTENT_WIDTH.takes(call)) {
            SLICES_WIDTH.set(call, EXTENT_WIDTH.get(call));
            SLICES_HEIGHT.set(call, height);
        }
        return code;
    }
}
