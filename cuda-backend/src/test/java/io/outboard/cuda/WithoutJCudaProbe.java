package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.NativeLibrary;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The probe runs in a virtual machine of its own; see {@link WithoutJCudaTest}. */
final class WithoutJCudaProbe {

    private WithoutJCudaProbe() {}

    public static void main(final String... arguments) {
        try {
            switch (arguments[0]) {
                case "calls" -> makeCalls(NativeLibrary.load());
                case "fake" -> use(CudaPool.over(CudaMemorySource.open(new FakeCuda(1), 0), builder -> {}));
                default -> use(CudaPool.open(Integer.parseInt(arguments[0])));
            }
        } catch (final CudaUnavailableException e) {
            System.out.println("unavailable: " + e.getMessage());
        }
    }

    private static void use(final CudaPool pool) {
        try (pool) {
            pool.pool().free(pool.pool().allocate(1000));
            pool.capture(7).close();
            try (CudaBuffer buffer = pool.buffer(5000)) {
                System.out.println(pool.source().device() + ": " + buffer.sizeBytes());
            }
            try {
                pool.source().giveBack(pool.source().take(1L << 40));
            } catch (final DeviceOutOfMemoryException e) {
                System.out.println("failure: " + e.getMessage());
            }
        }
        System.out.println("done");
    }

    /** Makes each call with arguments that differ, and prints its code and its answers. */
    private static void makeCalls(final CudaCalls calls) {
        final int[] number = new int[1];
        final long[] first = new long[1];
        final long[] second = new long[1];
        final String[] name = new String[1];
        say(calls.currentDevice(number), number[0]);
        say(calls.deviceCount(number), number[0]);
        say(calls.driverVersion(number), number[0]);
        say(calls.runtimeVersion(number), number[0]);
        say(calls.deviceName(name, 1), name[0]);
        say(calls.primaryContext(first, 1), first[0]);
        say(calls.setDevice(1), calls.currentContext(first), first[0]);
        say(calls.setDevice(1));
        say(calls.currentDevice(number), number[0]);
        say(calls.memoryInfo(first, second), first[0], second[0]);
        calls.clearLastError();
        say(calls.pushContext(0x77), calls.currentContext(first), first[0]);
        say(calls.popContext(), calls.currentContext(first), first[0]);
        say(calls.synchronize());
        say(calls.streamContext(first, 0), first[0]);
        say(calls.streamContext(first, 0x55), first[0]);
        say(calls.allocate(first, 4096), first[0]);
        say(calls.allocate(first, 1L << 40));
        say(calls.allocatePitch(first, second, 100, 30), first[0], second[0]);
        say(calls.release(0x7654_3210_0000L));
        say(calls.contextMemoryInfo(first, second), first[0], second[0]);
        say(calls.fill(0x7654_3210_0000L, 1L << 33, (byte) 0xFB));
        final ByteBuffer bytes = ByteBuffer.allocateDirect(3).limit(2);
        say(
                calls.read(bytes, 0x7654_3210_0000L),
                bytes.get(0),
                bytes.get(1),
                bytes.limit(3).get(2));
        say(calls.streamId(first, 0x55), first[0]);
        say(calls.queryStream(0x55));
        say(calls.createEvent(first), first[0]);
        say(calls.destroyEvent(0xE1));
        say(calls.recordEvent(0xE1, 0x55));
        say(calls.recordsContexts());
        say(calls.recordContext(0xE1, 0x77));
        say(calls.queryEvent(0xE1));
        say(calls.captureStatus(number, 0x55), number[0]);
        number[0] = 2;
        say(calls.exchangeCaptureMode(number), number[0]);
        say(calls.release(0xDEAD), calls.setDevice(1));
        say(calls.setDevice(2));
        say(calls.setDevice(2));
        say(calls.retainPrimaryContext(first, 2), first[0]);
    }

    private static void say(final Object... answers) {
        System.out.println("  " + Arrays.toString(answers));
    }
}
