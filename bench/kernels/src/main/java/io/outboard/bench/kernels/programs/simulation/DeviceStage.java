package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.DeviceResources;
import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.PartTimes;
import io.outboard.bench.kernels.programs.Storage;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.KernelModule;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import jcuda.Pointer;
import org.jspecify.annotations.Nullable;

/** A device's stage launches kernels and takes memory on a GPU. Confined to one thread. */
final class DeviceStage implements TimedStage {

    private static final int WORDS = 24;
    private static final int WORDS_AT = Storage.CONTROL_BYTES + Storage.MOST_TYPES * Storage.TABLE_BYTES;
    private static final int BLOCK = 256;
    private static final int BLOCKS_A_MULTIPROCESSOR = 8;

    private final BenchDevice device;
    private final KernelModule module;
    private final Storage storage;
    private final List<ObjectType> types;
    private final int fullGrid;
    private final ByteBuffer parameter =
            ByteBuffer.allocateDirect(WORDS_AT + WORDS * Long.BYTES).order(ByteOrder.nativeOrder());
    private final Pointer[] arguments = {Pointer.to(parameter)};
    private final DeviceResources resources = new DeviceResources();
    private final Map<Integer, Region> arrays = new HashMap<>();
    private @Nullable PartTimes listTimes;

    /** Makes a stage, which closes the storage, also if this constructor fails. */
    DeviceStage(
            final BenchDevice device, final KernelModule module, final Storage storage, final List<ObjectType> types) {
        this.device = device;
        this.module = module;
        this.storage = storage;
        this.types = List.copyOf(types);
        resources.add(storage, Storage::close);
        try {
            fullGrid = device.multiprocessors() * BLOCKS_A_MULTIPROCESSOR;
            storage.writeTo(parameter);
            array(REFUSED, Long.BYTES);
            array(FAULTS, Long.BYTES);
        } catch (final RuntimeException e) {
            throw resources.closedAfter(e);
        }
    }

    @Override
    public int idBytes() {
        return storage.idBytes();
    }

    @Override
    public void set(final int word, final long value) {
        parameter.putLong(WORDS_AT + word * Long.BYTES, value);
    }

    @Override
    public void array(final int word, final long bytes) {
        final Region region = resources.take(device, bytes);
        arrays.put(word, region);
        set(word, region.address());
    }

    private Region region(final int word) {
        return Objects.requireNonNull(arrays.get(word), () -> "word=" + word + " must have an array");
    }

    @Override
    public long count(final int word) {
        final long[] value = new long[1];
        BenchDevice.copyToHost(Pointer.to(value), region(word), Long.BYTES);
        return value[0];
    }

    @Override
    public int[] ints(final int word, final int count) {
        final int[] values = new int[count];
        BenchDevice.copyToHost(Pointer.to(values), region(word), (long) count * Integer.BYTES);
        return values;
    }

    @Override
    public Storage.Usage usage() {
        device.stopwatch().synchronize();
        return storage.usage();
    }

    @Override
    public double microseconds(final Runnable work) {
        return device.stopwatch().microseconds(work);
    }

    @Override
    public double microsecondsOfLists(final Runnable work) {
        try (PartTimes times = new PartTimes(device.stopwatch().stream())) {
            listTimes = times;
            work.run();
            return times.microseconds();
        } finally {
            listTimes = null;
        }
    }

    @Override
    public void launch(final String kernel) {
        launch(kernel, arguments);
    }

    private void launch(final String kernel, final Pointer... all) {
        module.launch(kernel, fullGrid, BLOCK, device.stopwatch().stream(), all);
    }

    @Override
    public void list(final String type) {
        final PartTimes times = listTimes;
        if (times != null) {
            times.begin();
        }
        storage.list(index(type), (kernel, number) -> launch(kernel, arguments[0], Pointer.to(new int[] {number})));
        if (times != null) {
            times.end();
        }
    }

    @Override
    public void endAll() {
        types.forEach(type -> forEach(type.name(), "end" + type.name()));
        device.stopwatch().synchronize();
    }

    private int index(final String type) {
        return IntStream.range(0, types.size())
                .filter(i -> types.get(i).name().equals(type))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("type=" + type + " must be one of " + types));
    }

    @Override
    public void close() {
        resources.close();
    }
}
