package io.outboard.bench.programs;

import io.outboard.bench.report.JsonLine;
import io.outboard.bench.worker.BenchDevice;
import io.outboard.core.Region;
import io.outboard.cuda.KernelModule;
import io.outboard.cuda.kernels.TextResource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs a simulation: times it, compares its picture with the CPU's, looks for the least heap. Confined to one thread. */
final class SimulationProgram implements Program {

    private static final int RUNS = 3;
    /** Of the steps that are timed, so many more have their parts timed. */
    private static final int PARTS = 5;

    private static final int QUICK_STEPS = 20;
    private static final int MEMORY_STEPS = 100;
    private static final int LONG_STEPS = 300_000;
    /** Launches that may wait for the device. */
    private static final int STEPS_AT_ONCE = 100;
    /** The least heap is found to a 64th. */
    private static final int PRECISION = 64;

    private static final long LEAST_HEAP = 64 << 10;

    private final Simulation simulation;
    private final Map<String, KernelModule> modules = new HashMap<>();
    private final Map<String, Simulation.Reference> references = new HashMap<>();
    private final Map<String, Integer> referenceSteps = new HashMap<>();

    SimulationProgram(final Simulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public String name() {
        return simulation.name();
    }

    @Override
    public List<Store> stores() {
        return simulation.stores();
    }

    @Override
    public List<ProgramCase> cases(final Store store, final boolean quick) {
        final List<ProgramCase> cases = new ArrayList<>();
        final Simulation.Size least = simulation.sizes().get(0);
        if (quick) {
            cases.add(of(store, least, ProgramCase.Mode.TIME, QUICK_STEPS));
            return cases;
        }
        if (store.isCuda()) {
            // Some hundred times slower than the others: more would take minutes.
            cases.add(of(store, least, ProgramCase.Mode.TIME, QUICK_STEPS));
            return cases;
        }
        simulation.sizes().forEach(size -> cases.add(of(store, size, ProgramCase.Mode.TIME, size.steps())));
        if (store.equals(Store.OBJECT_HEAP) || store.allocator().isPresent()) {
            cases.add(of(store, least, ProgramCase.Mode.MEMORY, MEMORY_STEPS));
        }
        if (store.equals(Store.OBJECT_HEAP) && simulation.hasLongRuns()) {
            for (int run = 0; run < RUNS; run++) {
                cases.add(of(store, least, ProgramCase.Mode.LONG, LONG_STEPS));
            }
        }
        return cases;
    }

    private ProgramCase of(
            final Store store, final Simulation.Size size, final ProgramCase.Mode mode, final int steps) {
        return new ProgramCase(name(), store, size.name(), mode, size.heapBytes(), steps);
    }

    @Override
    public JsonLine run(final ProgramCase work, final BenchDevice device) {
        final Simulation.Size size = simulation.sizes().stream()
                .filter(each -> each.name().equals(work.size()))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("size=" + work.size() + " must be one of the program's"));
        return switch (work.mode()) {
            case TIME -> time(work, size, device);
            case MEMORY -> memory(work, size, device);
            case LONG -> endurance(work, size, device);
        };
    }

    private JsonLine time(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        final int moreSteps = Math.max(1, work.steps() / PARTS);
        final double[] totals = new double[RUNS];
        final double[] lists = new double[RUNS];
        final double[] parts = new double[RUNS];
        JsonLine result = work.json();
        for (int run = 0; run < RUNS; run++) {
            try (Stage stage = stage(work, size, work.heapBytes(), device);
                    PartTimes times = new PartTimes(device.stopwatch().stream())) {
                if (!simulation.start(stage, size)) {
                    return result.put("status", "refused").put("message", "no room for the first objects");
                }
                totals[run] = device.stopwatch().microseconds(() -> steps(stage, 1, work.steps()));
                stage.timeLists(times);
                parts[run] =
                        device.stopwatch().microseconds(() -> steps(stage, work.steps() + 1, work.steps() + moreSteps));
                lists[run] = times.microseconds();
                stage.timeLists(null);
                if (run == RUNS - 1) {
                    result = checked(result, work, size, work.steps() + moreSteps, stage);
                }
            }
        }
        final double step = RequestRuns.median(totals) / work.steps();
        final double share = RequestRuns.median(lists) / RequestRuns.median(parts);
        return result.put("stepUs", step, 3)
                .put("enumerationUs", step * share, 3)
                .put("workUs", step * (1 - share), 3);
    }

    private void steps(final Stage stage, final int first, final int last) {
        for (int step = first; step <= last; step++) {
            simulation.step(stage, step);
        }
    }

    /** What the run came to, and what is left when all objects have been destroyed. */
    private JsonLine checked(
            final JsonLine json,
            final ProgramCase work,
            final Simulation.Size size,
            final int steps,
            final Stage stage) {
        final Simulation.Reference reference = reference(size, steps);
        final int[] expected = reference.picture();
        final int[] actual = drawn(stage, size);
        long mismatches = 0;
        for (int i = 0; i < expected.length; i++) {
            mismatches += expected[i] == actual[i] ? 0 : 1;
        }
        final long objects = Arrays.stream(reference.counts()).sum();
        final long live = Storage.liveBytes(simulation.types(size), stage.idBytes(), reference.counts());
        final Storage.Usage full = stage.usage();
        json.put("status", "ok")
                .put("objects", objects)
                .put("counts", Arrays.toString(reference.counts()))
                .put("liveBytes", live)
                .put("heldBytes", full.heldBytes() < 0 ? null : (Long) full.heldBytes())
                .put("mismatches", mismatches);
        if (work.store().equals(Store.OBJECT_HEAP)) {
            json.put("miscounted", Math.abs(full.objects() - objects));
            json.put("picture", simulation.png(size, actual));
        }
        return ended(json, stage);
    }

    private static JsonLine ended(final JsonLine json, final Stage stage) {
        stage.endAll();
        final Storage.Usage empty = stage.usage();
        return json.put("refused", stage.refused())
                .put("faults", stage.faults())
                .put("misuses", empty.misuses() < 0 ? null : (Long) empty.misuses())
                .put("leaked", empty.objects() < 0 ? null : (Long) empty.objects());
    }

    private int[] drawn(final Stage stage, final Simulation.Size size) {
        final Region picture = stage.picture(simulation.pictureLength(size));
        simulation.draw(stage);
        return Stage.ints(picture);
    }

    /** The least heap with which no object is refused. */
    private JsonLine memory(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        final Simulation.Reference reference = simulation.reference(size);
        final int idBytes = work.store().equals(Store.OBJECT_HEAP) ? Integer.BYTES : Long.BYTES;
        long peak = 0;
        for (int step = 0; step <= work.steps(); step++) {
            if (step > 0) {
                reference.step();
            }
            peak = Math.max(peak, Storage.liveBytes(simulation.types(size), idBytes, reference.counts()));
        }
        long enough = work.heapBytes();
        long little = 0;
        if (!isEnough(work, size, enough, device)) {
            return work.json().put("status", "refused").put("message", "the heap isn't enough");
        }
        while (enough - little > Math.max(LEAST_HEAP, enough / PRECISION)) {
            final long middle = (enough + little) / 2 / Storage.HEAP_ALIGNMENT * Storage.HEAP_ALIGNMENT;
            if (middle >= LEAST_HEAP && isEnough(work, size, middle, device)) {
                enough = middle;
            } else {
                little = middle;
            }
        }
        return work.json()
                .put("status", "ok")
                .put("peakLiveBytes", peak)
                .put("leastHeapBytes", enough)
                .put("leastHeapOverLive", (double) enough / peak, 3);
    }

    private boolean isEnough(
            final ProgramCase work, final Simulation.Size size, final long heapBytes, final BenchDevice device) {
        try (Stage stage = stage(work, size, heapBytes, device)) {
            if (!simulation.start(stage, size)) {
                return false;
            }
            for (int step = 1; step <= work.steps(); step++) {
                simulation.step(stage, step);
            }
            return stage.refused() == 0;
        } catch (final IllegalArgumentException e) {
            return false; // no room for a block
        }
    }

    /** Whether nothing goes wrong for long. All runs must come to the same checksum. */
    private JsonLine endurance(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        try (Stage stage = stage(work, size, work.heapBytes(), device)) {
            if (!simulation.start(stage, size)) {
                return work.json().put("status", "refused").put("message", "no room for the first objects");
            }
            for (int step = 1; step <= work.steps(); step += STEPS_AT_ONCE) {
                steps(stage, step, Math.min(work.steps(), step + STEPS_AT_ONCE - 1));
                device.stopwatch().synchronize();
            }
            final int[] picture = drawn(stage, size);
            final Storage.Usage full = stage.usage();
            return ended(
                    work.json()
                            .put("status", "ok")
                            .put("objects", full.objects())
                            .put("heldBytes", full.heldBytes())
                            .put("checksum", (long) Arrays.hashCode(picture)),
                    stage);
        }
    }

    private Stage stage(
            final ProgramCase work, final Simulation.Size size, final long heapBytes, final BenchDevice device) {
        final String resource = work.store().resource(name());
        final KernelModule module = modules.computeIfAbsent(
                resource, key -> KernelModule.load(key, TextResource.read(SimulationProgram.class, key)));
        final List<ObjectType> types = simulation.types(size);
        final Storage storage = work.store().equals(Store.OBJECT_HEAP)
                ? new HeapStorage(types, device.heapMemory(heapBytes), heapBytes, device.stopwatch().stream())
                : new TableStorage(device, work.store(), types, heapBytes);
        return new Stage(device, module, storage, types);
    }

    /** Computed once for all stores that come to so many steps. */
    private Simulation.Reference reference(final Simulation.Size size, final int steps) {
        int done = referenceSteps.getOrDefault(size.name(), 0);
        if (done > steps) {
            references.remove(size.name());
            done = 0;
        }
        final Simulation.Reference reference =
                references.computeIfAbsent(size.name(), key -> simulation.reference(size));
        for (; done < steps; done++) {
            reference.step();
        }
        referenceSteps.put(size.name(), done);
        return reference;
    }
}
