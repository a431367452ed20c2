package io.outboard.bench.kernels;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.DeviceAllocator;
import io.outboard.cuda.kernels.KernelModule;
import io.outboard.cuda.kernels.internal.TextResource;
import java.util.HashMap;
import java.util.Map;

/**
 * A bench is a device on which cases run, one after the other, each on a fresh heap; the device's primary context
 * becomes the thread's current one. Confined to one thread. If a kernel hangs, so does that thread, for good: see
 * {@link io.outboard.bench.kernels.worker.Watchdog}.
 */
final class KernelBench implements AutoCloseable {

    private final BenchDevice device;
    private final Map<Contender, KernelModule> modules = new HashMap<>();
    private final Counters counters;
    private final Ageing ageing;

    KernelBench(final int device) {
        this.device = new BenchDevice(device);
        counters = new Counters(this.device.take(Counters.BYTES).address());
        ageing = new Ageing(this.device.take(Ageing.BYTES), this.device.stopwatch(), counters);
    }

    /**
     * Measures a case. All cases of CUDA's own allocator must have heaps of one size.
     *
     * @return one object
     * @throws RuntimeException if a kernel crashed, memory isn't enough, and so on; the context may be unusable
     */
    JsonLine measure(final KernelCase work) {
        device.limitDriverHeap(work.driverHeapBytes());
        final KernelModule module = work.contender().linked() ? linked(work.contender()) : module(work.contender());
        if (work.test() == TestKind.REGISTERS) {
            return work.json()
                    .put("status", "ok")
                    .put("registers", (long) module.registers("registers"))
                    .put("cycleRegisters", (long) module.registers("cycle"));
        }
        final Region blocks = device.take(work.pointers() * Long.BYTES);
        final long heap = device.heapMemory(work.contender().needsMemory() ? work.heapBytes() : 1);
        final JsonLine result = work.test() == TestKind.CHURN
                ? new ChurnRun(work, module, heap, blocks, device.stopwatch(), counters).measure()
                : new CaseRun(work, module, heap, blocks, device.stopwatch(), counters, ageing).measure();
        device.giveBack(blocks);
        return result;
    }

    private KernelModule module(final Contender contender) {
        return modules.computeIfAbsent(
                contender,
                key -> KernelModule.load(key.resource(), TextResource.read(KernelBench.class, key.resource())));
    }

    private KernelModule linked(final Contender contender) {
        return modules.computeIfAbsent(contender, key -> {
            final DeviceAllocator allocator = DeviceAllocator.named(key.name());
            final String kernels = TextResource.read(KernelBench.class, key.resource());
            return key.coalesced()
                    ? KernelModule.linkCoalesced(allocator, kernels)
                    : KernelModule.link(allocator, kernels);
        });
    }

    @Override
    public void close() {
        modules.values().forEach(KernelModule::close);
        device.close();
    }
}
