package examples;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaMemcpyKind;
import jcuda.runtime.cudaStream_t;

/** Eight threads, each with a non-blocking stream of its own, share a device's memory. */
public final class ManyThreads {

    private static final int THREADS = 8;
    private static final int ROUNDS = 500;
    private static final int MOST_INTS = 50_000;

    private ManyThreads() {}

    public static void main(final String... args) throws InterruptedException, ExecutionException {
        JCuda.setExceptionsEnabled(true);
        final ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        try {
            final List<Callable<String>> work = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                final int number = i;
                work.add(() -> work(number));
            }
            for (final Future<String> result : executor.invokeAll(work)) {
                System.out.println(result.get());
            }
        } finally {
            executor.shutdown();
        }
    }

    private static String work(final int number) {
        JCuda.cudaSetDevice(0);
        final cudaStream_t stream = new cudaStream_t();
        JCuda.cudaStreamCreateWithFlags(stream, JCuda.cudaStreamNonBlocking);
        final Random random = new Random(number);
        // The buffers are direct, since the copies go on after the calls.
        final IntBuffer sent = directBuffer();
        final IntBuffer received = directBuffer();
        long checksum = 0;
        int wrong = 0;
        for (int round = 0; round < ROUNDS; round++) {
            final int length = 1 + random.nextInt(MOST_INTS);
            final long sizeBytes = (long) length * Sizeof.INT;
            for (int i = 0; i < length; i++) {
                sent.put(i, random.nextInt());
            }
            final Pointer first = new Pointer();
            final Pointer second = new Pointer();
            JCuda.cudaMalloc(first, sizeBytes);
            JCuda.cudaMalloc(second, sizeBytes);
            JCuda.cudaMemcpyAsync(first, Pointer.to(sent), sizeBytes, cudaMemcpyKind.cudaMemcpyHostToDevice, stream);
            JCuda.cudaMemcpyAsync(second, first, sizeBytes, cudaMemcpyKind.cudaMemcpyDeviceToDevice, stream);
            JCuda.cudaFree(first);
            JCuda.cudaMemcpyAsync(
                    Pointer.to(received), second, sizeBytes, cudaMemcpyKind.cudaMemcpyDeviceToHost, stream);
            JCuda.cudaStreamSynchronize(stream);
            JCuda.cudaFree(second);
            for (int i = 0; i < length; i++) {
                wrong += received.get(i) == sent.get(i) ? 0 : 1;
                checksum = (31 * checksum) + received.get(i);
            }
        }
        JCuda.cudaStreamDestroy(stream);
        return "thread " + number + ": wrong numbers " + wrong + ", checksum " + checksum;
    }

    private static IntBuffer directBuffer() {
        return ByteBuffer.allocateDirect(MOST_INTS * Sizeof.INT)
                .order(ByteOrder.nativeOrder())
                .asIntBuffer();
    }
}
