package io.outboard.bench.measure.pool.isolated;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.isolated.Target;
import io.outboard.bench.cli.isolated.TargetMeasurement;
import io.outboard.bench.cli.measurement.Measurement;
import io.outboard.bench.cli.measurement.Passes;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.measure.pool.PoolBench;
import io.outboard.core.MemorySource;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.CudaWork;
import io.outboard.cuda.Outboard;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.OutboardRuntime;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.ReusePolicy;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import jcuda.Pointer;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * The class implements the bench among the classes that a measurement of a pool loads for itself. Confined to one
 * thread.
 */
public final class IsolatedPoolBench implements PoolBench {

    private static final String NO_DEVICE = "none";

    private final String strategy;
    private final StrategyOptions options;
    private final Trace trace;

    /**
     * Makes a bench that looks up nothing until it measures.
     *
     * @param strategy name of the strategy in the pool
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables hold, as {@link StrategyOptions#maxBlocks}
     * @throws IllegalArgumentException if the tables can't be of that size
     */
    public IsolatedPoolBench(final String strategy, final Trace trace, final int maxBlocks) {
        this.strategy = strategy;
        this.options = StrategyOptions.DEFAULTS.withMaxBlocks(maxBlocks);
        this.trace = trace;
    }

    @Override
    public Measurement measurePool(
            final String reusePolicy, final long regionBytes, final String device, final Progress progress) {
        final ReusePolicy policy = ReusePolicy.valueOf(reusePolicy);
        if (device.equals(NO_DEVICE)) {
            return measurePool(policy, regionBytes, new VirtualMemorySource(), DeviceWork.NONE, device, null, progress);
        }
        final int ordinal = Integer.parseInt(device);
        try (CudaMemorySource source = CudaMemorySource.open(ordinal)) {
            return measurePool(
                    policy, regionBytes, source, CudaWork.open(ordinal), device, source::usedBytes, progress);
        }
    }

    private Measurement measurePool(
            final ReusePolicy policy,
            final long regionBytes,
            final MemorySource source,
            final DeviceWork work,
            final String device,
            final @Nullable LongSupplier deviceUsedBytes,
            final Progress progress) {
        try (Pool pool = pool(source, regionBytes).reuse(policy, work).build()) {
            final Target target = new PoolTarget(pool, policy == ReusePolicy.STREAM_ORDERED, trace.slots());
            return measure("pool", policy, () -> pool, target, device, deviceUsedBytes, progress);
        }
    }

    private PoolBuilder pool(final MemorySource source, final long regionBytes) {
        final PoolBuilder builder = Pool.over(source).strategy(strategy, options);
        return regionBytes == 0
                ? builder
                : builder.firstRegionBytes(regionBytes).limitBytes(regionBytes).growInPlace(false);
    }

    @Override
    public Measurement measureFacade(final String reusePolicy, final int device, final Progress progress) {
        final ReusePolicy policy = ReusePolicy.valueOf(reusePolicy);
        Outboard.configure(OutboardOptions.ofProperties().withStrategy(strategy).withReuse(policy));
        OutboardRuntime.cudaSetDevice(device);
        final CUstream stream = new CUstream();
        final Target target;
        if (policy == ReusePolicy.STREAM_ORDERED) {
            // A free of a null pointer is enough to make the runtime create a context.
            check("cudaFree", OutboardRuntime.cudaFree(new Pointer()));
            check("cuStreamCreate", JCudaDriver.cuStreamCreate(stream, 0));
            target = new DriverTarget(stream, trace.slots());
        } else {
            target = new RuntimeTarget(trace.slots());
        }
        final Supplier<@Nullable Pool> pool = () -> Outboard.poolOf(device).orElse(null);
        try (CudaMemorySource source = CudaMemorySource.open(device)) {
            return measure("facade", policy, pool, target, String.valueOf(device), source::usedBytes, progress);
        } finally {
            if (policy == ReusePolicy.STREAM_ORDERED) {
                JCudaDriver.cuStreamDestroy(stream);
            }
            // The next measurement needs the memory.
            Outboard.poolOf(device).ifPresent(used -> used.trimTo(0));
        }
    }

    private Measurement measure(
            final String kind,
            final ReusePolicy policy,
            final Supplier<@Nullable Pool> pool,
            final Target target,
            final String device,
            final @Nullable LongSupplier deviceUsedBytes,
            final Progress progress) {
        final PoolMemory memory = new PoolMemory(pool, target, trace);
        memory.run(deviceUsedBytes, progress);
        final Pool first = pool.get();
        final long marks = first == null ? 0 : first.statistics().synchronizations();
        final TargetMeasurement.Times times = new TargetMeasurement(target, trace, progress).run();
        final Pool used = pool.get();
        if (used == null || used.statistics().liveBlocks() != 0) {
            throw new IllegalStateException("the pool must be there, with nothing in use, when all has been freed");
        }
        return new Measurement(
                trace,
                strategy + " " + kind,
                device,
                policy.name(),
                times.nsPerOp(),
                times.turnsNs(),
                // A pool may wait for the device, too, so what isn't CPU time may be its own.
                Double.NaN,
                times.cpuNsPerOp(),
                times.allocate(),
                times.free(),
                times.gcBytesPerOp(),
                (double) (used.statistics().synchronizations() - marks)
                        / (Passes.operations(trace) - trace.operationCount()),
                null,
                null,
                Double.NaN,
                Double.NaN,
                null,
                Double.NaN,
                memory.failures(),
                used.statistics().heldBytes(),
                memory.samples(),
                memory.operations());
    }

    private static void check(final String call, final int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException(call + " failed: " + CUresult.stringFor(code));
        }
    }

    @Override
    public double operationsASecond(final String reusePolicy, final int threads) throws InterruptedException {
        final StrategyOptions forAll = options.withMaxBlocks(
                Math.max(options.maxBlocks(), Math.toIntExact(2L * threads * (trace.peakLiveBlocks() + 1))));
        try (MemorySource source = new VirtualMemorySource();
                Pool pool = Pool.over(source)
                        .strategy(strategy, forAll)
                        .reuse(ReusePolicy.valueOf(reusePolicy), DeviceWork.NONE)
                        .build()) {
            return new Throughput(pool, trace, threads).operationsASecond();
        }
    }
}
