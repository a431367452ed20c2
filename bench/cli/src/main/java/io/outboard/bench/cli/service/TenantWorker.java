package io.outboard.bench.cli.service;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.bench.cli.worker.Worker;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.CudaPool;
import io.outboard.pool.Pool;
import io.outboard.service.LeasedMemorySource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * The program of a tenant has one pool over a lender as long as it lives, and replays a trace whenever it is asked to.
 */
final class TenantWorker {

    /** The address of an empty slot, at which no block lies. */
    private static final long NONE = 0;

    private final Pool pool;
    private final Trace trace;
    private final long[] addresses;

    TenantWorker(final Pool pool, final Trace trace) {
        this.pool = pool;
        this.trace = trace;
        addresses = new long[trace.slots()];
    }

    /**
     * Replays a trace for each line of input.
     *
     * @param arguments {@code memory} or the number of a GPU, the lender's socket, the tenant's name, the trace
     * @throws InterruptedException if the main thread is interrupted
     */
    public static void main(final String... arguments) throws InterruptedException {
        Worker.answer(() -> {
            try {
                final Pool pool = open(arguments[0], Path.of(arguments[1]), arguments[2]);
                final TenantWorker tenant = new TenantWorker(pool, TraceReader.read(Path.of(arguments[3])));
                return line -> tenant.turn().toString();
            } catch (final IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
        });
    }

    /** Opens the pool, which is never closed: when the process ends, its leases go back to the lender. */
    private static Pool open(final String device, final Path socket, final String name) throws IOException {
        return device.equals("memory")
                ? Pool.over(LeasedMemorySource.connect(socket, name)).build()
                : CudaPool.connect(Integer.parseInt(device), socket, name).pool();
    }

    /**
     * Replays the trace once and frees what the trace leaves. Allocations that find no memory are counted, and their
     * frees left out.
     */
    JsonLine turn() {
        final long start = System.nanoTime();
        long live = 0;
        long peak = 0;
        long allocations = 0;
        long refused = 0;
        for (final long operation : trace.operations()) {
            final int slot = Trace.slot(operation);
            if (!Trace.isFree(operation)) {
                allocations++;
                try {
                    addresses[slot] = pool.allocate(Trace.bytes(operation));
                    live += Trace.bytes(operation);
                    peak = Math.max(peak, live);
                } catch (final DeviceOutOfMemoryException e) {
                    refused++;
                }
            } else if (addresses[slot] != NONE) {
                free(slot);
                live -= Trace.bytes(operation);
            }
        }
        for (int slot = 0; slot < addresses.length; slot++) {
            if (addresses[slot] != NONE) {
                free(slot);
            }
        }
        return new JsonLine()
                .put("ns", System.nanoTime() - start)
                .put("peakLiveBytes", peak)
                .put("allocations", allocations)
                .put("refused", refused);
    }

    private void free(final int slot) {
        pool.free(addresses[slot]);
        addresses[slot] = NONE;
    }
}
