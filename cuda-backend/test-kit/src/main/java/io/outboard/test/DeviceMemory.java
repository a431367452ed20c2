package io.outboard.test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Device memory is what a test, or a {@link Kernel}, reads and writes of a {@link SimulatedGpu}: little endian, at any
 * address, aligned or not. Bytes that nobody has written are {@code 0xA5}.
 *
 * <p>Each access must lie within one block that the accessor may use; otherwise it throws a {@link MemoryFaultError},
 * nothing is written, and the test fails at its end though the program may have caught the error. A test's own
 * accesses happen at once: they see what kernels have done that have run by then. What is read, written or copied at
 * once is less than 2 GiB; an access of no bytes does nothing, wherever it is.
 *
 * <p>Safe for any number of threads.
 */
public final class DeviceMemory {

    private final HostPages pages;
    private final BlockLedger ledger;

    /** The launch whose kernel has this object, null for the test itself. */
    private final @Nullable Launch launch;

    DeviceMemory(final HostPages pages, final BlockLedger ledger, final @Nullable Launch launch) {
        this.pages = pages;
        this.ledger = ledger;
        this.launch = launch;
    }

    /**
     * Reads bytes.
     *
     * @param address device address of the first
     * @param count how many, {@code 0 <= count}
     * @return the bytes
     */
    public byte[] readBytes(final long address, final int count) {
        return read(address, count, Byte.BYTES);
    }

    /**
     * Writes bytes.
     *
     * @param address device address of the first
     * @param bytes what to write
     */
    public void writeBytes(final long address, final byte... bytes) {
        synchronized (ledger.lock) {
            ledger.check(launch, "writes", address, bytes.length);
            pages.write(address, bytes);
        }
    }

    /**
     * Sets each byte of a range to one value.
     *
     * @param address device address of the first
     * @param sizeBytes length in bytes, {@code 0 <= sizeBytes}
     * @param value the value
     */
    public void fill(final long address, final long sizeBytes, final byte value) {
        synchronized (ledger.lock) {
            ledger.check(launch, "fills", address, sizeBytes);
            pages.fill(address, sizeBytes, value);
        }
    }

    /**
     * Copies bytes; the ranges may overlap.
     *
     * @param from device address of the first that is read
     * @param to device address of the first that is written
     * @param sizeBytes length in bytes, {@code 0 <= sizeBytes < 2^31}
     */
    public void copy(final long from, final long to, final long sizeBytes) {
        synchronized (ledger.lock) {
            ledger.check(launch, "reads", from, sizeBytes);
            ledger.check(launch, "writes", to, sizeBytes);
            final byte[] bytes = new byte[Math.toIntExact(sizeBytes)];
            pages.read(from, bytes);
            pages.write(to, bytes);
        }
    }

    /**
     * {@return the {@code int} at an address}
     *
     * @param address device address of its first byte
     */
    public int readInt(final long address) {
        return buffer(read(address, 1, Integer.BYTES)).getInt();
    }

    /**
     * {@return the {@code float} at an address}
     *
     * @param address device address of its first byte
     */
    public float readFloat(final long address) {
        return buffer(read(address, 1, Float.BYTES)).getFloat();
    }

    /**
     * {@return the {@code double} at an address}
     *
     * @param address device address of its first byte
     */
    public double readDouble(final long address) {
        return buffer(read(address, 1, Double.BYTES)).getDouble();
    }

    /**
     * {@return numbers that lie side by side}
     *
     * @param address device address of the first
     * @param count how many, {@code 0 <= count}
     */
    public int[] readInts(final long address, final int count) {
        final IntBuffer read = buffer(read(address, count, Integer.BYTES)).asIntBuffer();
        final int[] values = new int[count];
        read.get(values);
        return values;
    }

    /**
     * {@return numbers that lie side by side}
     *
     * @param address device address of the first
     * @param count how many, {@code 0 <= count}
     */
    public float[] readFloats(final long address, final int count) {
        final FloatBuffer read = buffer(read(address, count, Float.BYTES)).asFloatBuffer();
        final float[] values = new float[count];
        read.get(values);
        return values;
    }

    /**
     * {@return numbers that lie side by side}
     *
     * @param address device address of the first
     * @param count how many, {@code 0 <= count}
     */
    public double[] readDoubles(final long address, final int count) {
        final DoubleBuffer read = buffer(read(address, count, Double.BYTES)).asDoubleBuffer();
        final double[] values = new double[count];
        read.get(values);
        return values;
    }

    /**
     * Writes numbers side by side.
     *
     * @param address device address of the first
     * @param values what to write
     */
    public void writeInts(final long address, final int... values) {
        final byte[] bytes = new byte[Math.multiplyExact(values.length, Integer.BYTES)];
        buffer(bytes).asIntBuffer().put(values);
        writeBytes(address, bytes);
    }

    /**
     * Writes numbers side by side.
     *
     * @param address device address of the first
     * @param values what to write
     */
    public void writeFloats(final long address, final float... values) {
        final byte[] bytes = new byte[Math.multiplyExact(values.length, Float.BYTES)];
        buffer(bytes).asFloatBuffer().put(values);
        writeBytes(address, bytes);
    }

    /**
     * Writes numbers side by side.
     *
     * @param address device address of the first
     * @param values what to write
     */
    public void writeDoubles(final long address, final double... values) {
        final byte[] bytes = new byte[Math.multiplyExact(values.length, Double.BYTES)];
        buffer(bytes).asDoubleBuffer().put(values);
        writeBytes(address, bytes);
    }

    private byte[] read(final long address, final int count, final int valueBytes) {
        final long sizeBytes = (long) count * valueBytes;
        synchronized (ledger.lock) {
            // Before the array is made: the size may be any.
            ledger.check(launch, "reads", address, sizeBytes);
            final byte[] bytes = new byte[Math.toIntExact(sizeBytes)];
            pages.read(address, bytes);
            return bytes;
        }
    }

    private static ByteBuffer buffer(final byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
