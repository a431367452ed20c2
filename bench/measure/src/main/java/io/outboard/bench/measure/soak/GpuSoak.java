package io.outboard.bench.measure.soak;

import io.outboard.cuda.Outboard;
import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.OutboardRuntime;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolStatistics;
import io.outboard.pool.ReusePolicy;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;

/**
 * This soak tests the facades on a GPU. A kernel on the thread's non-blocking stream fills each block with a pattern of
 * its own. Before the block is freed its content is read back, and then a slow kernel is launched that writes something
 * else to it. If the pool hands the block on before that kernel has ended, the kernel destroys what the next owner
 * wrote. Overlaps are found on the host as well.
 */
final class GpuSoak implements Session.Shared<GpuSoak.Block> {

    /** The most bytes of a block that are read back, half at its beginning and half at its end. */
    private static final int READ_BYTES = 32 << 10;

    private static final int BLOCKS = 16;
    private static final int THREADS = 256;

    /** The value that the last kernel leaves in freed blocks. */
    private static final int POISON = 0xDEADBEEF;

    /** The cycles of a GPU's clock in a nanosecond, approximately. */
    private static final double CYCLES_A_NS = 1.7;

    /** The kernel waits for a number of clock cycles, then writes a value to each word. */
    private static final String KERNEL = """
            .version 7.0
            .target sm_75
            .address_size 64
            .visible .entry soakWrite(.param .u64 data, .param .u32 count, .param .u32 value, .param .u64 cycles)
            {
                .reg .pred %p<3>;
                .reg .b32 %r<9>;
                .reg .b64 %rd<9>;
                ld.param.u64 %rd1, [data];
                ld.param.u32 %r1, [count];
                ld.param.u32 %r2, [value];
                ld.param.u64 %rd2, [cycles];
                cvta.to.global.u64 %rd8, %rd1;
                mov.u64 %rd3, %clock64;
            WAIT:
                mov.u64 %rd4, %clock64;
                sub.u64 %rd5, %rd4, %rd3;
                setp.lt.u64 %p1, %rd5, %rd2;
                @%p1 bra WAIT;
                mov.u32 %r3, %ctaid.x;
                mov.u32 %r4, %ntid.x;
                mov.u32 %r5, %tid.x;
                mad.lo.u32 %r6, %r3, %r4, %r5;
                mov.u32 %r7, %nctaid.x;
                mul.lo.u32 %r8, %r7, %r4;
            WRITE:
                setp.ge.u32 %p2, %r6, %r1;
                @%p2 bra DONE;
                mul.wide.u32 %rd6, %r6, 4;
                add.u64 %rd7, %rd8, %rd6;
                st.global.u32 [%rd7], %r2;
                add.u32 %r6, %r6, %r8;
                bra WRITE;
            DONE:
                ret;
            }
            """;

    private final int device;
    private final boolean ordered;
    private final UseRecord record = new UseRecord();
    private final CUmodule module = new CUmodule();
    private final CUfunction kernel = new CUfunction();

    /**
     * A block has the stream of the thread that allocated it, on which all work on it runs, and the pattern that it
     * holds.
     */
    record Block(UseRecord.Use use, CUdeviceptr pointer, CUstream stream, int pattern) {}

    GpuSoak(final SoakSettings settings) {
        device = settings.device();
        ordered = settings.policy() == ReusePolicy.STREAM_ORDERED;
        Outboard.configure(
                OutboardOptions.ofProperties().withStrategy(settings.strategy()).withReuse(settings.policy()));
        enter();
        check(
                "cuModuleLoadData",
                JCudaDriver.cuModuleLoadData(module, (KERNEL + "\0").getBytes(StandardCharsets.US_ASCII)));
        check("cuModuleGetFunction", JCudaDriver.cuModuleGetFunction(kernel, module, "soakWrite"));
    }

    /** Makes the device's primary context current. */
    private void enter() {
        check("cudaSetDevice", OutboardRuntime.cudaSetDevice(device));
        check("cudaFree", OutboardRuntime.cudaFree(new Pointer()));
    }

    @Override
    public Session<Block> open() {
        enter();
        final CUstream stream = new CUstream();
        check("cuStreamCreate", JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
        return new OfThread(stream);
    }

    @Override
    public PoolStatistics statistics() {
        return Outboard.poolOf(device)
                .map(Pool::statistics)
                .orElse(new PoolStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }

    @Override
    public long peakLiveBytes() {
        return record.peakLiveBytes();
    }

    @Override
    public void end() {
        check("cudaDeviceSynchronize", JCuda.cudaDeviceSynchronize());
        Outboard.poolOf(device).ifPresent(pool -> {
            final long kept = pool.trimTo(0);
            final PoolStatistics left = pool.statistics();
            if (record.liveBytes() != 0 || left.liveBlocks() != 0 || kept != 0 || left.limboBytes() != 0) {
                throw new IllegalStateException("all blocks and all memory must come back: " + left);
            }
        });
    }

    @Override
    public void close() {
        JCuda.cudaDeviceSynchronize();
        JCudaDriver.cuModuleUnload(module);
    }

    private static void check(final String call, final int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException(call + " failed: " + CUresult.stringFor(code));
        }
    }

    private final class OfThread implements Session<Block> {

        private final CUstream stream;
        private final Random patterns = new Random(System.identityHashCode(this));
        private final int[] read = new int[READ_BYTES / Integer.BYTES];
        private final int[] expected = new int[READ_BYTES / Integer.BYTES];

        OfThread(final CUstream stream) {
            this.stream = stream;
        }

        @Override
        public Block allocate(final long sizeBytes) {
            final CUdeviceptr pointer = new CUdeviceptr();
            check(
                    "allocating",
                    ordered
                            ? OutboardDriver.cuMemAllocAsync(pointer, sizeBytes, stream)
                            : OutboardDriver.cuMemAlloc(pointer, sizeBytes));
            // The record finds overlaps only; a use whose work hasn't ended shows in the content.
            final UseRecord.Use use =
                    record.allocated(DevicePointers.address(pointer), sizeBytes, UseRecord.ANY_STREAM, 0);
            final Block block = new Block(use, pointer, stream, patterns.nextInt());
            launch(block, block.pattern, 0);
            return block;
        }

        @Override
        public void use(final Block block, final long kernelNs) {
            launch(block, block.pattern, kernelNs);
        }

        private void launch(final Block block, final int value, final long kernelNs) {
            final Pointer parameters = Pointer.to(
                    Pointer.to(block.pointer),
                    Pointer.to(new int[] {(int) (block.use.sizeBytes / Integer.BYTES)}),
                    Pointer.to(new int[] {value}),
                    Pointer.to(new long[] {(long) (kernelNs * CYCLES_A_NS)}));
            check(
                    "cuLaunchKernel",
                    JCudaDriver.cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, block.stream, parameters, null));
        }

        @Override
        public void free(final Block block) {
            check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(block.stream));
            final long words = block.use.sizeBytes / Integer.BYTES;
            final int count = (int) Math.min(words, read.length);
            checkContent(block, 0, count);
            checkContent(block, words - count, count);
            launch(block, POISON, patterns.nextInt(500_000));
            record.freed(block.use, UseRecord.ANY_STREAM);
            check(
                    "freeing",
                    ordered
                            ? OutboardDriver.cuMemFreeAsync(block.pointer, block.stream)
                            : OutboardDriver.cuMemFree(block.pointer));
        }

        private void checkContent(final Block block, final long firstWord, final int count) {
            final CUdeviceptr from = new CUdeviceptr();
            DevicePointers.set(from, block.use.address + firstWord * Integer.BYTES);
            check(
                    "cuMemcpyDtoHAsync",
                    JCudaDriver.cuMemcpyDtoHAsync(Pointer.to(read), from, (long) count * Integer.BYTES, block.stream));
            check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(block.stream));
            Arrays.fill(expected, 0, count, block.pattern);
            final int wrong = Arrays.mismatch(read, 0, count, expected, 0, count);
            if (wrong >= 0) {
                throw new IllegalStateException(String.format(
                        "the block at %d of %d bytes must hold %08x, and holds %08x at byte %d",
                        block.use.address,
                        block.use.sizeBytes,
                        block.pattern,
                        read[wrong],
                        (firstWord + wrong) * Integer.BYTES));
            }
        }

        @Override
        public long sizeBytes(final Block block) {
            return block.use.sizeBytes;
        }
    }
}
