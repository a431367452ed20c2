package io.outboard.bench.kernels.worker;

import io.outboard.bench.cli.report.JsonLine;

/** A case for {@link FakeWorker} says how it ends, and what it needs of the driver's heap. */
record FakeCase(String ending, long driverHeapBytes) implements DeviceCase {

    FakeCase(final String ending) {
        this(ending, 0);
    }

    @Override
    public String line() {
        return ending;
    }

    @Override
    public JsonLine json() {
        return new JsonLine().put("name", ending).put("allocator", "none").put("case", "fake");
    }

    @Override
    public String resource() {
        return "/none.ptx.gz";
    }

    @Override
    public int seconds() {
        return 0;
    }
}
