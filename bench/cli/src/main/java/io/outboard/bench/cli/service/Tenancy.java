package io.outboard.bench.cli.service;

import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.worker.WorkerProcess;
import io.outboard.service.Lender;
import io.outboard.service.LenderBuilder;
import io.outboard.service.LenderEvent;
import io.outboard.service.LendingDevice;
import io.outboard.service.Quota;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;

/**
 * This class runs two tenants of one device, each a process of its own. They replay their traces in turns: the first,
 * the second, then the first again. Confined to one thread, except for the lender's events.
 */
final class Tenancy {

    /** The limit of a turn, more than any replay should take; a refused allocation may have waited for seconds. */
    private static final Duration TURN_LIMIT = Duration.ofHours(1);

    /**
     * A tenant is a program that leases memory of the device.
     *
     * @param name the lender's name for the tenant
     * @param trace file of the trace that the tenant replays
     */
    record Tenant(String name, Path trace) {}

    /**
     * A result has the figures of a tenant over all its turns.
     *
     * @param arrangement how the device was divided
     * @param tenant name of the tenant
     * @param peakLiveBytes most bytes that the tenant's blocks had at a time
     * @param peakLeasedBytes most bytes that were lent to the tenant at a time
     * @param allocations number of the tenant's allocations
     * @param refused number of allocations that got no memory
     * @param medianNs median time of the tenant's turns
     * @param mostNs longest time of the tenant's turns
     */
    record Result(
            String arrangement,
            String tenant,
            long peakLiveBytes,
            long peakLeasedBytes,
            long allocations,
            long refused,
            double medianNs,
            double mostNs) {}

    /**
     * This object holds how many bytes a tenant has leased now, and the most that the tenant had; only one thread
     * of the lender's writes to it.
     */
    private static final class Leased {
        private long bytes;
        private volatile long peakBytes;

        void add(final long more) {
            bytes += more;
            peakBytes = Math.max(peakBytes, bytes);
        }
    }

    private final String device;
    private final List<Tenant> tenants;
    private final int rounds;

    Tenancy(final String device, final List<Tenant> tenants, final int rounds) {
        this.device = device;
        this.tenants = List.copyOf(tenants);
        this.rounds = rounds;
    }

    /**
     * Runs the turns.
     *
     * @param arrangement name of the arrangement in results, and of the lender's socket
     * @param lent the device to lend, which is closed at the end
     * @param quota of each tenant
     * @param folder for the socket
     * @return a result for each tenant, in their order
     * @throws IOException if no lender or process can be started
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalArgumentException if the folder's path is too long for a socket
     * @throws IllegalStateException if a tenant ends for another reason than a lack of memory
     */
    List<Result> run(final String arrangement, final LendingDevice lent, final Quota quota, final Path folder)
            throws IOException, InterruptedException {
        final Map<String, Leased> leased = new ConcurrentHashMap<>();
        final LenderBuilder builder = Lender.of(lent).events(event -> count(leased, event));
        tenants.forEach(tenant -> {
            leased.put(tenant.name(), new Leased());
            builder.quota(tenant.name(), quota);
        });
        final List<List<JsonObject>> turns;
        try (lent;
                Lender lender = builder.start(folder.resolve(arrangement))) {
            turns = turns(lender.socket());
        }
        final List<Result> results = new ArrayList<>();
        for (int i = 0; i < tenants.size(); i++) {
            final String name = tenants.get(i).name();
            results.add(result(arrangement, name, peakBytes(leased, name), turns.get(i)));
        }
        return results;
    }

    private static void count(final Map<String, Leased> leased, final LenderEvent event) {
        final Leased its = leased.get(event.client());
        if (its != null && event.kind() == LenderEvent.Kind.LEASED) {
            its.add(event.bytes());
        } else if (its != null && event.kind() == LenderEvent.Kind.RETURNED) {
            its.add(-event.bytes());
        }
    }

    private static long peakBytes(final Map<String, Leased> leased, final String name) {
        final Leased its = leased.get(name);
        return its == null ? 0 : its.peakBytes;
    }

    /** Returns the answers that each tenant gave after its turns. */
    private List<List<JsonObject>> turns(final Path socket) throws IOException, InterruptedException {
        final List<WorkerProcess> processes = new ArrayList<>();
        final List<List<JsonObject>> turns = new ArrayList<>();
        try {
            for (final Tenant tenant : tenants) {
                processes.add(WorkerProcess.start(WorkerProcess.command(
                        TenantWorker.class,
                        device,
                        socket.toString(),
                        tenant.name(),
                        tenant.trace().toString())));
                turns.add(new ArrayList<>());
            }
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < processes.size(); i++) {
                    turns.get(i).add(turn(tenants.get(i).name(), processes.get(i)));
                }
            }
        } finally {
            for (final WorkerProcess process : processes) {
                process.kill();
            }
        }
        return turns;
    }

    private static JsonObject turn(final String name, final WorkerProcess process) throws InterruptedException {
        final WorkerProcess.Answer answer = process.ask("turn", TURN_LIMIT);
        return switch (answer.outcome()) {
            case ANSWERED -> JsonReader.read(name, 1, answer.text());
            case ENDED -> throw new IllegalStateException("tenant " + name + " ended in its turn: " + answer.text());
            case TIMED_OUT ->
                throw new IllegalStateException(
                        "tenant " + name + " isn't done with its turn after " + TURN_LIMIT.toMinutes() + " minutes");
        };
    }

    private static Result result(
            final String arrangement, final String tenant, final long peakLeasedBytes, final List<JsonObject> turns) {
        final double[] ns = numbers(turns, "ns").asDoubleStream().sorted().toArray();
        return new Result(
                arrangement,
                tenant,
                numbers(turns, "peakLiveBytes").max().orElse(0),
                peakLeasedBytes,
                numbers(turns, "allocations").sum(),
                numbers(turns, "refused").sum(),
                (ns[(ns.length - 1) / 2] + ns[ns.length / 2]) / 2,
                ns[ns.length - 1]);
    }

    private static LongStream numbers(final List<JsonObject> turns, final String key) {
        return turns.stream().mapToLong(turn -> (long) turn.number(key));
    }
}
