package examples.fake;

import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.cuda.CUGL;
import org.lwjgl.cuda.CUIPCMemHandle;
import org.lwjgl.system.MemoryStack;
import org.lwjgl.system.MemoryUtil;

/**
 * The program allocates by LWJGL's class of the driver's functions, over a driver that says what it is asked, and
 * prints the codes. With an argument, it only uses streams.
 */
public final class LwjglProgram {

    private static final int TIMES = 100;
    private static final int DEVICE = 1;

    /** A handle of a stream that was made elsewhere. */
    private static final long STREAM = 0x57;

    /** The interface is the type of method references. */
    private interface Free {
        int free(long address);
    }

    private LwjglProgram() {}

    public static void main(final String... args) throws Exception {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer pointer = stack.callocPointer(3);
            int codes = CU.cuInit(0);
            codes |= CU.cuDevicePrimaryCtxRetain(pointer, DEVICE);
            codes |= CU.cuCtxSetCurrent(pointer.get(0));
            System.out.println("begin: " + codes);
            if (args.length == 0) {
                System.out.println("buffers: " + buffers(pointer));
                System.out.println("rows: " + rows(pointer, stack.mallocPointer(1)));
                System.out.println("questions: " + questions(pointer, stack.mallocPointer(1)));
                System.out.println("streams: " + streams(pointer, STREAM));
                System.out.println("wrong: " + wrong(pointer, CUIPCMemHandle.malloc(stack)));
                System.out.println("contexts: " + contexts(pointer));
            } else {
                System.out.println("capture: " + capture(pointer));
                System.out.println("default stream: " + streams(pointer, 0));
                System.out.println("other stream: " + streams(pointer, STREAM));
            }
        }
    }

    private static int buffers(final PointerBuffer pointer) throws Exception {
        int codes = 0;
        for (int i = 1; i <= TIMES; i++) {
            codes |= CU.cuMemAlloc(pointer, 1000L * i);
            codes |= pointer.get(0) == 0 ? 1 << 10 : 0;
            codes |= CU.cuMemFree(pointer.get(0));
        }
        pointer.put(0, 0).position(1);
        codes |= CU.cuMemAlloc(pointer, 5000);
        pointer.position(0);
        codes |= pointer.get(0) != 0 || pointer.get(2) != 0 ? 1 << 11 : 0;
        codes |= free(CU::cuMemFree, pointer.get(1));
        codes |= CU.ncuMemAlloc(pointer.address(2), 5000);
        codes |= (int) CU.class.getMethod("cuMemFree", long.class).invoke(null, pointer.get(2));
        return codes;
    }

    private static int free(final Free free, final long address) {
        return free.free(address);
    }

    private static int rows(final PointerBuffer pointer, final PointerBuffer pitch) {
        int codes = 0;
        for (int i = 0; i < 3; i++) {
            codes |= CU.cuMemAllocPitch(pointer, pitch, 100, 10, 4);
            codes |= pitch.get(0) == 512 ? 0 : 1 << 12;
            codes |= CU.cuMemFree(pointer.get(0));
        }
        return codes;
    }

    /** Answers codes, whether the pool's memory counts as free, and the size of a block of 5000 bytes. */
    private static String questions(final PointerBuffer pointer, final PointerBuffer size) {
        int codes = CU.cuMemGetInfo(pointer, size);
        final boolean pooled = pointer.get(0) > size.get(0) / 2;
        codes |= CU.cuMemAlloc(pointer, 5000);
        final long address = pointer.get(0);
        codes |= CU.cuMemGetAddressRange(pointer, size, address + 10);
        return (codes | CU.cuMemFree(address)) + " " + pooled + " " + size.get(0);
    }

    private static int streams(final PointerBuffer pointer, final long stream) {
        int codes = 0;
        for (int i = 0; i < 2; i++) {
            codes |= CU.cuMemAllocAsync(pointer, 1000, stream);
            codes |= CU.cuMemFreeAsync(pointer.get(0), stream);
        }
        return stream == 0 ? codes : codes | CU.cuStreamDestroy(stream);
    }

    /** What is allocated on a captured stream belongs to the graph. */
    private static int capture(final PointerBuffer pointer) {
        int codes = CU.cuStreamBeginCapture_v2(0, CU.CU_STREAM_CAPTURE_MODE_GLOBAL);
        codes |= CU.cuMemAllocAsync(pointer, 1000, 0);
        codes |= CU.cuMemFreeAsync(pointer.get(0), 0);
        return codes | CU.cuStreamEndCapture(0, pointer);
    }

    /** Answers the codes of a pointer into a block, of a second free, of too much, of a share, and of no place. */
    private static String wrong(final PointerBuffer pointer, final CUIPCMemHandle handle) {
        CU.cuMemAlloc(pointer, 1000);
        final long address = pointer.get(0);
        final String codes = CU.cuMemFree(address + 256) + " " + CU.cuMemFree(address) + " " + CU.cuMemFree(address);
        final int tooMuch = CU.cuMemAlloc(pointer, 1L << 40);
        final boolean isNull = pointer.get(0) == 0;
        CU.cuMemAlloc(pointer, 1000);
        return codes + " " + tooMuch + " " + isNull + " " + CU.cuIpcGetMemHandle(handle, pointer.get(0)) + " "
                + CU.ncuMemAlloc(MemoryUtil.NULL, 1000);
    }

    private static int contexts(final PointerBuffer pointer) {
        int codes = CU.cuCtxCreate(pointer, 0, DEVICE);
        codes |= useAndEnd(pointer.get(0), pointer);
        codes |= CUGL.cuGLCtxCreate(pointer, 0, DEVICE);
        return codes | useAndEnd(pointer.get(0), pointer);
    }

    private static int useAndEnd(final long context, final PointerBuffer pointer) {
        int codes = CU.cuMemAlloc(pointer, 1000);
        codes |= CU.cuMemFree(pointer.get(0));
        return codes | CU.cuCtxDestroy(context);
    }
}
