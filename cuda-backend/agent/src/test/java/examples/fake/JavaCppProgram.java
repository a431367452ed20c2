package examples.fake;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import org.bytedeco.cuda.cudart.CUctx_st;
import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.cudart.CUipcMemHandle_v1;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.cudart.cudaExtent;
import org.bytedeco.cuda.cudart.cudaPitchedPtr;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.javacpp.SizeTPointer;

/**
 * The program allocates by JavaCPP's class of CUDA's functions, with all types of pointers, and prints the codes and
 * the calls that reached CUDA; with an argument, those of one stream and context alone.
 */
public final class JavaCppProgram {

    private static final int TIMES = 100;

    /** The interface is the type of method references. */
    private interface Free {
        int free(Pointer pointer);
    }

    private JavaCppProgram() {}

    public static void main(final String... args) throws Exception {
        System.out.println("runtime: " + runtime() + ", " + FakeCudart.counts());
        System.out.println("driver: " + driver() + ", " + FakeCudart.counts());
        if (args.length > 0) {
            return;
        }
        System.out.println("rows: " + rows() + ", " + FakeCudart.counts());
        System.out.println("streams: " + streams() + ", " + FakeCudart.counts());
        System.out.println("wrong: " + wrong() + ", " + FakeCudart.counts());
        System.out.println("contexts: " + contexts() + ", " + FakeCudart.counts());
        System.out.println(FakeNatives.counts());
    }

    private static int runtime() throws Exception {
        int codes = 0;
        for (int i = 1; i <= TIMES; i++) {
            final Pointer pointer = new Pointer();
            codes |= cudart.cudaMalloc(pointer, 1000L * i);
            codes |= pointer.isNull() ? 1 << 10 : 0;
            codes |= cudart.cudaFree(pointer);
        }
        try (PointerPointer<Pointer> pointers = new PointerPointer<>(3)) {
            pointers.put(0, (Pointer) null).put(1, (Pointer) null).put(2, (Pointer) null);
            codes |= cudart.cudaMalloc(pointers.position(1), 5000);
            pointers.position(0);
            codes |= pointers.get(0) != null || pointers.get(2) != null ? 1 << 11 : 0;
            codes |= free(cudart::cudaFree, pointers.get(1));
        }
        final BytePointer bytes = new BytePointer();
        codes |= cudart.cudaMalloc(bytes, 5000);
        // The position counts, and address and position together are what was allocated.
        final Pointer moved = new Pointer(bytes) {
            {
                address -= 16;
                position = 16;
            }
        };
        codes |= cudart.cudaFree(moved);
        final Pointer other = new Pointer();
        codes |= (int)
                cudart.class.getMethod("cudaMalloc", Pointer.class, long.class).invoke(null, other, 100L);
        final int[] code = new int[1];
        final Thread deallocator = new Thread(() -> code[0] = cudart.cudaFree(other));
        deallocator.start();
        deallocator.join();
        return codes | code[0];
    }

    private static int free(final Free free, final Pointer pointer) {
        return free.free(pointer);
    }

    private static int driver() {
        final long[] array = new long[2];
        int codes = cudart.cuMemAlloc(array, 1000);
        codes |= cudart.cuMemFree(array[0]);
        final LongBuffer heap = LongBuffer.allocate(2).position(1);
        codes |= cudart.cuMemAlloc(heap, 1000);
        codes |= heap.get(0) == 0 ? cudart.cuMemFree(heap.get(1)) : 1 << 16;
        final LongBuffer direct =
                ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder()).asLongBuffer();
        codes |= cudart.cuMemAlloc(direct, 1000);
        codes |= cudart.cuMemFree(direct.get(0));
        final ByteBuffer otherOrder = ByteBuffer.allocateDirect(16).order(ByteOrder.BIG_ENDIAN);
        codes |= cudart.cuMemAlloc(otherOrder.asLongBuffer(), 1000);
        codes |= cudart.cuMemFree(otherOrder.order(ByteOrder.nativeOrder()).getLong(0));
        try (LongPointer pointer = new LongPointer(2);
                SizeTPointer size = new SizeTPointer(2);
                SizeTPointer free = new SizeTPointer(1);
                SizeTPointer total = new SizeTPointer(1)) {
            codes |= cudart.cuMemAlloc(pointer.position(1), 1000);
            final long address = pointer.get();
            codes |= cudart.cuMemGetAddressRange(pointer.position(0), size.position(1), address + 10);
            codes |= pointer.get() == address && size.get() == 1024 ? 0 : 1 << 12;
            codes |= cudart.cuMemFree(address);
            codes |= cudart.cudaMemGetInfo(free, total);
            // The pool's region is free, too.
            codes |= free.get() > total.get() ? 0 : 1 << 13;
        }
        return codes;
    }

    private static int rows() {
        int codes = 0;
        try (SizeTPointer pitch = new SizeTPointer(1);
                cudaPitchedPtr slices = new cudaPitchedPtr(memory(32));
                cudaExtent extent = new cudaExtent(memory(24))) {
            final Pointer pointer = new Pointer();
            codes |= cudart.cudaMallocPitch(pointer, pitch, 100, 10);
            codes |= pitch.get() == 512 ? 0 : 1 << 14;
            codes |= cudart.cudaFree(pointer);
            final LongPointer sizes = new LongPointer(extent);
            sizes.put(0, 100).put(1, 3).put(2, 2);
            codes |= cudart.cudaMalloc3D(slices, extent);
            final LongPointer members = new LongPointer(slices);
            codes |= members.get(1) == 512 && members.get(2) == 100 && members.get(3) == 3 ? 0 : 1 << 15;
            codes |= cudart.cuMemFree(members.get(0));
        }
        return codes;
    }

    private static Pointer memory(final long sizeBytes) {
        return new BytePointer(sizeBytes).zero();
    }

    private static int streams() {
        final CUstream_st stream = new CUstream_st(new Pointer() {
            {
                address = 0x57;
            }
        });
        final Pointer pointer = new Pointer();
        int codes = cudart.cudaMallocAsync(pointer, 1000, stream);
        codes |= cudart.cudaFreeAsync(pointer, stream);
        codes |= cudart.cudaMallocAsync(pointer, 1000, (CUstream_st) null);
        codes |= cudart.cudaFreeAsync(pointer, (CUstream_st) null);
        codes |= cudart.cudaStreamBeginCapture(stream, 0);
        codes |= cudart.cudaStreamEndCapture(stream, new CUgraph_st());
        return codes | cudart.cudaStreamDestroy(stream);
    }

    private static int contexts() {
        final CUctx_st context = new CUctx_st();
        int codes = cudart.cuCtxCreate(context, null, 0, 0);
        final long[] array = new long[1];
        codes |= cudart.cuMemAlloc(array, 1000);
        codes |= cudart.cuMemFree(array[0]);
        codes |= cudart.cuCtxDestroy(context);
        return codes | cudart.cudaDeviceReset();
    }

    /** Answers the codes of a second free, of a pointer into a block, of too much, of a share, and of nothing. */
    private static String wrong() {
        final long[] array = new long[1];
        cudart.cuMemAlloc(array, 1000);
        final String codes =
                cudart.cuMemFree(array[0] + 256) + " " + cudart.cuMemFree(array[0]) + " " + cudart.cuMemFree(array[0]);
        final Pointer pointer = new Pointer();
        final int tooMuch = cudart.cudaMalloc(pointer, Long.MAX_VALUE);
        cudart.cuMemAlloc(array, 1000);
        return codes + " " + tooMuch + " " + pointer.isNull() + " "
                + cudart.cuIpcGetMemHandle(new CUipcMemHandle_v1(), array[0])
                + " " + cudart.cudaFree(null) + " " + cudart.cudaMalloc((Pointer) null, 1000);
    }
}
