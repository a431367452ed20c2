package io.outboard.bench.kernels.programs;

import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.core.Region;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.ObjIntConsumer;
import jcuda.Pointer;

/** This storage keeps objects of all types in one array with a bitmap of free places, the paper's baseline. */
final class BitmapStorage implements Storage {

    /** The bytes of a structure's place in the array of pointers, which lie before its fields. */
    private static final int HEAD_BYTES = 4;

    private final BitmapPlaces places;
    private final long memory;
    private final TableStorage tables;

    BitmapStorage(final BenchDevice device, final List<ObjectType> types, final long heapBytes) {
        places = BitmapPlaces.in(
                heapBytes,
                types.stream()
                        .mapToInt(type -> type.structureBytes(HEAD_BYTES, Long.BYTES))
                        .max()
                        .orElseThrow());
        memory = device.heapMemory(heapBytes);
        for (int level = 0; level < BitmapPlaces.LEVELS; level++) {
            BenchDevice.copyToDevice(region(level), Pointer.to(places.allFree(level)));
        }
        tables = new TableStorage(device, Store.BITMAP_ALLOC, types, heapBytes);
    }

    private Region region(final int level) {
        return new Region(memory + places.offsetOf(level), (long) places.allFree(level).length * Long.BYTES);
    }

    @Override
    public void writeTo(final ByteBuffer parameter) {
        tables.writeTo(parameter);
        int at = Long.BYTES;
        parameter.putLong(0, memory);
        for (final int number :
                new int[] {places.units(), places.count(), places.wordsOf(BitmapPlaces.LEVELS - 1), 0}) {
            parameter.putInt(at, number);
            at += Integer.BYTES;
        }
        for (int level = 0; level < BitmapPlaces.LEVELS; level++) {
            parameter.putLong(at + level * Long.BYTES, region(level).address());
        }
    }

    @Override
    public void list(final int type, final ObjIntConsumer<String> kernel) {
        tables.list(type, kernel);
    }

    @Override
    public int idBytes() {
        return tables.idBytes();
    }

    @Override
    public Usage usage() {
        final long[] words = new long[places.wordsOf(0)];
        BenchDevice.copyToHost(Pointer.to(words), region(0), (long) words.length * Long.BYTES);
        final long used = places.used(words);
        return new Usage(used, used * places.placeBytes(), -1);
    }

    @Override
    public void close() {
        tables.close();
    }
}
