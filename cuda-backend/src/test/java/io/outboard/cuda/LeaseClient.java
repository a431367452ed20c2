package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.facade.GpuProgram;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import org.jspecify.annotations.Nullable;

/**
 * A client of a lender in a process of its own has a pool, and a region of leases in which kernels write and count
 * words. It reads commands from standard input, and answers {@code ok}, with a figure if there is one, or what is
 * wrong.
 */
final class LeaseClient {

    private static final int THREADS = 256;
    private static final int BLOCKS = 1024;
    private static final int WRITERS = 8;
    private static final int WRITER_BLOCKS = 16;

    /** The cycles of 20 ms or more, since GPUs clock below 2.5 GHz. */
    private static final long WRITE_CYCLES = 50_000_000;

    private static final int WRITE_MILLIS = 20;
    private static final long PAUSE_NANOS = 3_000_000;
    private static final long MILLI_NANOS = 1_000_000;
    private static final long MIB = 1L << 20;

    /**
     * The kernel counts the words that have another value. It isn't compiled by nvcc, since then its PTX would have to
     * be made again after each change.
     */
    private static final String COUNT_PTX = """
            .version 7.7
            .target sm_75
            .address_size 64
            .visible .entry countOthers(
                .param .u64 data, .param .u64 words, .param .u32 value, .param .u64 count)
            {
                .reg .pred %p<3>;
                .reg .b32 %r<8>;
                .reg .b64 %rd<9>;
                ld.param.u64 %rd1, [data];
                ld.param.u64 %rd2, [words];
                ld.param.u32 %r1, [value];
                ld.param.u64 %rd3, [count];
                cvta.to.global.u64 %rd1, %rd1;
                cvta.to.global.u64 %rd3, %rd3;
                mov.u32 %r2, %ctaid.x;
                mov.u32 %r3, %ntid.x;
                mov.u32 %r4, %tid.x;
                mad.lo.u32 %r5, %r2, %r3, %r4;
                cvt.u64.u32 %rd4, %r5;
                mov.u32 %r6, %nctaid.x;
                mul.lo.u32 %r6, %r6, %r3;
                cvt.u64.u32 %rd5, %r6;
            LOOP:
                setp.ge.u64 %p1, %rd4, %rd2;
                @%p1 bra DONE;
                shl.b64 %rd6, %rd4, 2;
                add.u64 %rd6, %rd1, %rd6;
                ld.global.u32 %r7, [%rd6];
                setp.eq.u32 %p2, %r7, %r1;
                @%p2 bra NEXT;
                atom.global.add.u64 %rd7, [%rd3], 1;
            NEXT:
                add.u64 %rd4, %rd4, %rd5;
                bra LOOP;
            DONE:
                ret;
            }
            """;

    private record Block(long address, long bytes) {}

    private final CudaMemorySource source;
    private final Pool pool;
    private final Deque<Block> blocks = new ArrayDeque<>();
    private final CUfunction count;
    private final CUfunction writeAfter;
    private final CUdeviceptr counter = new CUdeviceptr();
    private @Nullable GrowableRegion region;

    private LeaseClient(final CudaMemorySource source) {
        this.source = source;
        pool = Pool.over(source).firstRegionBytes(64 * MIB).build();
        count = function(COUNT_PTX, "countOthers");
        writeAfter = function(GpuProgram.text("write-after.ptx.gz"), "writeAfter");
        succeed(JCudaDriver.cuMemAlloc(counter, Long.BYTES));
    }

    /** Runs a client. The arguments are the socket and a name. */
    public static void main(final String[] arguments) throws IOException {
        if (arguments.length > 2) {
            facade(arguments);
            return;
        }
        try (CudaMemorySource source = CudaMemorySource.connect(0, Path.of(arguments[0]), arguments[1]);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            final LeaseClient client = new LeaseClient(source);
            System.out.println("ready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(client.answer(line.split(" ", -1)));
            }
            client.pool.close();
        }
    }

    /** Runs a program that knows nothing of leases; a third argument is how many bytes it allocates. */
    private static void facade(final String[] arguments) {
        System.setProperty("outboard.service", arguments[0]);
        System.setProperty("outboard.serviceName", arguments[1]);
        final long bytes = Long.parseLong(arguments[2]);
        succeed(OutboardRuntime.cudaSetDevice(0));
        final Pointer pointer = new Pointer();
        succeed(OutboardRuntime.cudaMalloc(pointer, bytes));
        succeed(JCuda.cudaMemset(pointer, 0x5A, bytes));
        System.out.println(
                GpuProgram.holds(pointer, Math.min(bytes, MIB), (byte) 0x5A)
                        ? "ok " + Outboard.poolOf(0).orElseThrow().statistics().heldBytes()
                        : "wrong");
        System.out.println("code " + OutboardRuntime.cudaMalloc(new Pointer(), 1L << 45));
        succeed(OutboardRuntime.cudaFree(pointer));
        succeed(OutboardRuntime.cudaDeviceReset());
        System.out.println("ok");
    }

    private static CUfunction function(final String ptx, final String name) {
        final CUmodule module = new CUmodule();
        final CUfunction function = new CUfunction();
        succeed(JCudaDriver.cuModuleLoadData(module, ptx));
        succeed(JCudaDriver.cuModuleGetFunction(function, module, name));
        return function;
    }

    private static void succeed(final int code) {
        if (code != 0) {
            throw new IllegalStateException("code=" + code);
        }
    }

    private String answer(final String[] words) {
        try {
            final long first = words.length > 1 ? Long.parseLong(words[1]) : 0;
            final long second = words.length > 2 ? Long.parseLong(words[2]) : 0;
            return switch (words[0]) {
                case "take" -> take(first, second);
                case "fill" -> fill((int) first);
                case "check" -> check((int) first);
                case "watch" -> watch((int) first, second);
                case "write" -> write((int) first, second);
                case "give" -> give();
                case "time" -> time((int) first, second);
                case "grow" -> grow((int) first, second);
                case "speed" -> speed((int) first);
                case "allocate" -> allocate(first);
                case "free" -> {
                    final Block block = blocks.removeLast();
                    pool.free(block.address);
                    yield "ok";
                }
                case "available" -> "ok " + source.availableBytes();
                default -> throw new IllegalArgumentException("command=" + words[0]);
            };
        } catch (final DeviceOutOfMemoryException e) {
            return "refused: " + e.getMessage();
        } catch (final RuntimeException e) {
            return "wrong: " + e;
        }
    }

    // The following methods use the region.

    private GrowableRegion region() {
        if (region == null) {
            throw new IllegalStateException("nothing was taken");
        }
        return region;
    }

    /** Takes fresh leases of {@code pieceBytes} each, whose memory must be zero. */
    private String take(final long bytes, final long pieceBytes) {
        final GrowableRegion taken = source.reserve(bytes, bytes).orElseThrow();
        boolean done = false;
        try {
            taken.commit(taken.region().address(), bytes, pieceBytes);
            done = true;
        } finally {
            if (!done) {
                taken.close();
            }
        }
        region = taken;
        return check(0);
    }

    private String give() {
        region().close();
        region = null;
        return "ok";
    }

    private String fill(final int value) {
        final GrowableRegion filled = region();
        succeed(JCudaDriver.cuMemsetD32(pointer(filled.region().address()), value, filled.endBytes() / Integer.BYTES));
        succeed(JCuda.cudaDeviceSynchronize());
        return "ok";
    }

    private String check(final int value) {
        final long others = others(value);
        return others == 0 ? "ok" : "wrong: " + others + " words aren't " + value;
    }

    private String watch(final int value, final long millis) {
        final long end = System.nanoTime() + millis * MILLI_NANOS;
        int times = 0;
        while (System.nanoTime() - end < 0) {
            final long others = others(value);
            if (others != 0) {
                return "wrong: " + others + " words aren't " + value + " any more, seen the time " + times;
            }
            times++;
        }
        return "ok " + times;
    }

    private long others(final int value) {
        final GrowableRegion counted = region();
        succeed(JCudaDriver.cuMemsetD32(counter, 0, 2));
        final Pointer parameters = Pointer.to(
                Pointer.to(pointer(counted.region().address())),
                Pointer.to(new long[] {counted.endBytes() / Integer.BYTES}),
                Pointer.to(new int[] {value}),
                Pointer.to(counter));
        succeed(JCudaDriver.cuLaunchKernel(count, BLOCKS, 1, 1, THREADS, 1, 1, 0, new CUstream(), parameters, null));
        final long[] others = new long[1];
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(others), counter, Long.BYTES));
        return others[0];
    }

    /**
     * Launches kernels that write to the whole region again and again for a time; they have only begun when this method
     * returns.
     */
    private String write(final int value, final long millis) {
        final GrowableRegion written = region();
        final long partBytes = written.endBytes() / WRITERS;
        for (int part = 0; part < WRITERS; part++) {
            final CUstream stream = new CUstream();
            succeed(JCudaDriver.cuStreamCreate(stream, 1));
            final Pointer parameters = Pointer.to(
                    Pointer.to(pointer(written.region().address() + part * partBytes)),
                    Pointer.to(new int[] {(int) (partBytes / Integer.BYTES)}),
                    Pointer.to(new int[] {value}),
                    Pointer.to(new long[] {WRITE_CYCLES}));
            for (long each = 0; each < millis; each += WRITE_MILLIS) {
                succeed(JCudaDriver.cuLaunchKernel(
                        writeAfter, WRITER_BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters, null));
            }
        }
        return "ok";
    }

    private static CUdeviceptr pointer(final long address) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, address);
        return pointer;
    }

    // The following methods measure times.

    /** Times leases that are returned at once, with a pause after each. */
    private String time(final int times, final long bytes) {
        final GrowableRegion leased = source.reserve(bytes, bytes).orElseThrow();
        final long address = leased.region().address();
        final long[] nanos = new long[times];
        for (int i = -times / 10; i < times; i++) {
            final long begin = System.nanoTime();
            leased.commit(address, bytes, bytes);
            final long end = System.nanoTime();
            leased.giveBack(new long[] {address}, 1);
            nanos[Math.max(0, i)] = end - begin;
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        leased.close();
        return "ok " + figures(nanos);
    }

    /** Times leases that are taken one after the other, with a pause after each: steady growth. */
    private String grow(final int times, final long bytes) {
        final GrowableRegion leased =
                source.reserve(times * bytes, times * bytes).orElseThrow();
        final long[] nanos = new long[times];
        for (int i = 0; i < times; i++) {
            final long begin = System.nanoTime();
            leased.commit(leased.region().address() + i * bytes, bytes, bytes);
            nanos[i] = System.nanoTime() - begin;
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        leased.close();
        return "ok " + figures(nanos);
    }

    /** Returns the median and the 99th percentile. */
    private static String figures(final long[] nanos) {
        Arrays.sort(nanos);
        return nanos[nanos.length / 2] + " " + nanos[nanos.length * 99 / 100];
    }

    /**
     * Times allocations in a pool over leases, and in the same pool without: picoseconds, the medians of rounds in
     * turn.
     */
    private String speed(final int rounds) {
        final long[] leased = new long[rounds];
        final long[] own = new long[rounds];
        try (CudaMemorySource plain = CudaMemorySource.open(0);
                Pool other = poolOf(plain);
                Pool mine = poolOf(source)) {
            for (int i = -rounds; i < rounds; i++) {
                final int at = Math.max(0, i);
                leased[at] = round(mine);
                own[at] = round(other);
            }
        }
        Arrays.sort(leased);
        Arrays.sort(own);
        return "ok " + leased[rounds / 2] + " " + own[rounds / 2];
    }

    private static Pool poolOf(final CudaMemorySource from) {
        return Pool.over(from)
                .reuse(ReusePolicy.IMMEDIATE, from.work())
                .firstRegionBytes(64 * MIB)
                .build();
    }

    /** Times a round with at most 64 blocks in use, in picoseconds for each block. */
    private static long round(final Pool over) {
        final int operations = 200_000;
        final long[] ring = new long[64];
        final long begin = System.nanoTime();
        for (int i = 0; i < operations; i++) {
            final int slot = i & ring.length - 1;
            if (ring[slot] != 0) {
                over.free(ring[slot]);
            }
            ring[slot] = over.allocate(256L << (i * 7 & 7));
        }
        final long end = System.nanoTime();
        for (final long block : ring) {
            over.free(block);
        }
        return (end - begin) * 1000 / operations;
    }

    // The following methods use the pool.

    private String allocate(final long bytes) {
        blocks.add(new Block(pool.allocate(bytes), bytes));
        return "ok " + pool.statistics().heldBytes();
    }
}
