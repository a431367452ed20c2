package examples.onnx;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The functions of ONNX Runtime's C API that the Java API lacks. They are members of a structure whose order never
 * changes: members are added behind the last one. ONNX Runtime's own Java classes must have loaded the library. Safe
 * for any number of threads.
 */
@SuppressWarnings("restricted")
final class OrtCalls {

    /** What is asked for, and what allocators say that they are made for. */
    static final int API_VERSION = 22;

    private static final int GET_ERROR_MESSAGE = 2;
    private static final int CREATE_ENV = 3;
    private static final int CREATE_CPU_MEMORY_INFO = 69;
    private static final int RELEASE_ENV = 92;
    private static final int RELEASE_STATUS = 93;
    private static final int RELEASE_MEMORY_INFO = 94;
    private static final int REGISTER_ALLOCATOR = 176;
    private static final int UNREGISTER_ALLOCATOR = 177;
    private static final int MEMBERS = UNREGISTER_ALLOCATOR + 1;

    private static final int LOG_WARNINGS = 2;
    private static final int DEVICE_ALLOCATOR = 0;
    private static final int DEFAULT_MEMORY = 0;

    private static final Linker LINKER = Linker.nativeLinker();

    private final MemorySegment api;

    private OrtCalls(final MemorySegment api) {
        this.api = api;
    }

    static OrtCalls find() {
        final MemorySegment base = (MemorySegment) call(LINKER.downcallHandle(
                SymbolLookup.loaderLookup().find("OrtGetApiBase").orElseThrow(), FunctionDescriptor.of(ADDRESS)));
        final MethodHandle getApi = LINKER.downcallHandle(
                base.reinterpret(ADDRESS.byteSize()).get(ADDRESS, 0), FunctionDescriptor.of(ADDRESS, JAVA_INT));
        final MemorySegment api = (MemorySegment) call(getApi, API_VERSION);
        if (api.equals(MemorySegment.NULL)) {
            throw new IllegalStateException("ONNX Runtime must be 1." + API_VERSION + " or newer");
        }
        return new OrtCalls(api.reinterpret(MEMBERS * ADDRESS.byteSize()));
    }

    /** The process's environment, which is the one that the Java API has; to be released. */
    MemorySegment environment() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment out = arena.allocate(ADDRESS);
            check(call(
                    function(CREATE_ENV, FunctionDescriptor.of(ADDRESS, JAVA_INT, ADDRESS, ADDRESS)),
                    LOG_WARNINGS,
                    arena.allocateFrom("outboard"),
                    out));
            return out.get(ADDRESS, 0);
        }
    }

    /** What describes memory of the CPU; to be released. */
    MemorySegment cpuMemory() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment out = arena.allocate(ADDRESS);
            check(call(
                    function(CREATE_CPU_MEMORY_INFO, FunctionDescriptor.of(ADDRESS, JAVA_INT, JAVA_INT, ADDRESS)),
                    DEVICE_ALLOCATOR,
                    DEFAULT_MEMORY,
                    out));
            return out.get(ADDRESS, 0);
        }
    }

    void register(final MemorySegment environment, final MemorySegment allocator) {
        check(call(
                function(REGISTER_ALLOCATOR, FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS)),
                environment,
                allocator));
    }

    void unregister(final MemorySegment environment, final MemorySegment memoryInfo) {
        check(call(
                function(UNREGISTER_ALLOCATOR, FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS)),
                environment,
                memoryInfo));
    }

    void releaseEnvironment(final MemorySegment environment) {
        call(function(RELEASE_ENV, FunctionDescriptor.ofVoid(ADDRESS)), environment);
    }

    void releaseMemoryInfo(final MemorySegment memoryInfo) {
        call(function(RELEASE_MEMORY_INFO, FunctionDescriptor.ofVoid(ADDRESS)), memoryInfo);
    }

    private void check(final Object result) {
        final MemorySegment status = (MemorySegment) result;
        if (!status.equals(MemorySegment.NULL)) {
            final MemorySegment message =
                    (MemorySegment) call(function(GET_ERROR_MESSAGE, FunctionDescriptor.of(ADDRESS, ADDRESS)), status);
            final String text = message.reinterpret(Long.MAX_VALUE).getString(0);
            call(function(RELEASE_STATUS, FunctionDescriptor.ofVoid(ADDRESS)), status);
            throw new IllegalStateException("ONNX Runtime: " + text);
        }
    }

    private MethodHandle function(final int member, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(api.getAtIndex(ADDRESS, member), descriptor);
    }

    private static Object call(final MethodHandle function, final Object... arguments) {
        try {
            return function.invokeWithArguments(arguments);
        } catch (final RuntimeException | Error e) {
            throw e;
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
