package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** This bench forwards all calls to another; tests override what they change or watch. */
class ForwardingBench implements StrategyBench {

    private final StrategyBench bench;

    ForwardingBench(final StrategyBench bench) {
        this.bench = bench;
    }

    @Override
    public Smallest smallestRegion(final Consumer<String> progress) {
        return bench.smallestRegion(progress);
    }

    @Override
    public long lastRefusedRegion(final long servedBytes, final Consumer<String> progress) {
        return bench.lastRefusedRegion(servedBytes, progress);
    }

    @Override
    public double hostBytesPerBlock() {
        return bench.hostBytesPerBlock();
    }

    @Override
    public Placed place(
            final long regionAddress,
            final long regionBytes,
            final boolean byHandle,
            final boolean latencies,
            final String device,
            final @Nullable LongSupplier deviceUsedBytes,
            final Progress progress) {
        return bench.place(regionAddress, regionBytes, byHandle, latencies, device, deviceUsedBytes, progress);
    }

    @Override
    public void warmUp() {
        bench.warmUp();
    }

    @Override
    public double turn() {
        return bench.turn();
    }

    @Override
    public Measurement finish() {
        return bench.finish();
    }

    @Override
    public void writePlacements(final long regionAddress, final long regionBytes, final Path file) throws IOException {
        bench.writePlacements(regionAddress, regionBytes, file);
    }
}
