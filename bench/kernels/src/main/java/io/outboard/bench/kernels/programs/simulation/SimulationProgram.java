package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Program;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.RequestRuns;
import io.outboard.bench.kernels.programs.Storage;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.PeerPrograms;
import io.outboard.cuda.kernels.DeviceAllocator;
import io.outboard.cuda.kernels.KernelModule;
import io.outboard.cuda.kernels.internal.TextResource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The program runs a simulation: times it, compares its picture with the CPU's, and looks for the least heap. Confined
 * to one thread.
 */
public final class SimulationProgram implements Program {

    private static final int RUNS = 3;
    private static final int QUICK_STEPS = 20;
    private static final int MEMORY_STEPS = 100;
    private static final int LONG_STEPS = 300_000;
    /** The most launches that may wait for the device. */
    private static final int STEPS_AT_ONCE = 100;
    /** The least heap is found with a precision of one 64th. */
    private static final int PRECISION = 64;

    private static final long LEAST_HEAP = 64 << 10;
    /** A peer may hang when memory is used up. */
    private static final int PEER_SECONDS = 10;

    /**
     * In the search for the largest problem, where half of the runs may hang, a run may take so many times as long as the
     * largest one that passed. The next has at most four times as many elements: its sides are at most twice as long.
     */
    private static final int PEER_PATIENCE = 8;

    private final Simulation simulation;
    /**
     * The modules stay loaded, so the blocks of CUDA's heap that Buffered keeps, at most 1024 objects of a type, serve
     * the next run.
     */
    private final Map<String, KernelModule> modules = new HashMap<>();

    private final Map<String, Simulation.Reference> references = new HashMap<>();

    /** Until a peer is ended, once its heap is made. */
    private double peerSeconds;

    public SimulationProgram(final Simulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public String name() {
        return simulation.name();
    }

    @Override
    public List<Store> stores() {
        // Peers are there where bench/peers.sh has made them.
        return Stream.concat(
                        Store.all().stream(),
                        Store.peers().stream().filter(peer -> Program.class.getResource(peer.resource(name())) != null))
                .toList();
    }

    @Override
    public List<ProgramCase> cases(final Store store, final boolean quick) {
        final List<ProgramCase> cases = new ArrayList<>();
        final Simulation.Size least = simulation.sizes().get(0);
        // CUDA's allocator is some hundred times slower than the others: more sizes would take minutes.
        if (quick || store.isCuda()) {
            cases.add(of(store, least, ProgramCase.Mode.TIME, QUICK_STEPS));
            return cases;
        }
        simulation.sizes().forEach(size -> cases.add(of(store, size, ProgramCase.Mode.TIME, size.steps())));
        if (store.equals(Store.OBJECT_HEAP) || store.equals(Store.plain(DeviceAllocator.BIT_MALLOC))) {
            // This case is for the comparison with CUDA's allocator, since the first steps aren't like the following
            // ones.
            cases.add(of(store, least, ProgramCase.Mode.TIME, QUICK_STEPS));
        }
        if (store.equals(Store.OBJECT_HEAP) || store.hasPointers()) {
            cases.add(of(store, least, ProgramCase.Mode.MEMORY, MEMORY_STEPS));
        }
        final Simulation.Size searched = simulation.searched();
        cases.add(of(store, searched, ProgramCase.Mode.LARGEST, searched.steps()));
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
        peerSeconds = PEER_SECONDS;
        final Simulation.Size size = Stream.concat(simulation.sizes().stream(), Stream.of(simulation.searched()))
                .filter(each -> each.name().equals(work.size()))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("size=" + work.size() + " must be one of the program's"));
        return switch (work.mode()) {
            case TIME -> time(work, size, device);
            case MEMORY -> memory(work, size, device);
            case LARGEST -> largest(work, size, device);
            case LONG -> endurance(work, size, device);
        };
    }

    /**
     * Times the steps, and times their lists in just as many further runs: the objects are the same in the same steps,
     * and the runs that are timed as a whole have no events in between.
     */
    private JsonLine time(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        final double[] totals = new double[RUNS];
        final double[] lists = new double[RUNS];
        JsonLine result = work.json();
        for (int run = 0; run < RUNS; run++) {
            try (TimedStage stage = stage(work, size, device)) {
                if (!simulation.start(stage, size)) {
                    return noRoom(work);
                }
                totals[run] = stage.microseconds(() -> steps(stage, 1, work.steps()));
                if (stage.refused() != 0) {
                    return refused(work, stage);
                }
                if (run == RUNS - 1) {
                    result = checked(result, work, size, stage);
                } else {
                    stage.endAll(); // CUDA's heap must be the same for the next run.
                }
            }
            lists[run] = listsOf(work, size, device);
        }
        final double step = RequestRuns.median(totals) / work.steps();
        final double enumeration = RequestRuns.median(lists) / work.steps();
        return result.put("stepUs", step, 3)
                .put("enumerationUs", enumeration, 3)
                // Lists may take longer between events than without, so the difference can be negative.
                .put("workUs", Math.max(0, step - enumeration), 3);
    }

    /** Returns the time of all lists of a run, in microseconds. */
    private double listsOf(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        try (TimedStage stage = stage(work, size, device)) {
            if (!simulation.start(stage, size)) {
                return Double.NaN;
            }
            final double microseconds = stage.microsecondsOfLists(() -> steps(stage, 1, work.steps()));
            stage.endAll();
            return microseconds;
        }
    }

    private static JsonLine noRoom(final ProgramCase work) {
        return work.json().put("status", "refused").put("message", "no room for the first objects");
    }

    /** Returns the result of a run in which objects weren't made, which isn't compared with the CPU's. */
    private static JsonLine refused(final ProgramCase work, final TimedStage stage) {
        return ended(work.json().put("status", "refused").put("message", "no room for objects of later steps"), stage);
    }

    private void steps(final TimedStage stage, final int first, final int last) {
        for (int step = first; step <= last; step++) {
            simulation.step(stage, step);
        }
    }

    /** Returns the result of a run, and what is left when all objects have been destroyed. */
    private JsonLine checked(
            final JsonLine json, final ProgramCase work, final Simulation.Size size, final TimedStage stage) {
        final Simulation.Reference reference = reference(size, work.steps());
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
                .put("heldBytes", Storage.Usage.known(full.heldBytes()))
                .put("mismatches", mismatches);
        if (work.store().isObjectHeap()) {
            json.put("miscounted", Math.abs(full.objects() - objects));
            json.put("picture", simulation.png(size, actual));
        }
        return ended(json, stage);
    }

    private static JsonLine ended(final JsonLine json, final TimedStage stage) {
        stage.endAll();
        final Storage.Usage empty = stage.usage();
        return json.put("refused", stage.refused())
                .put("faults", stage.faults())
                .put("misuses", Storage.Usage.known(empty.misuses()))
                .put("leaked", Storage.Usage.known(empty.objects()));
    }

    private int[] drawn(final TimedStage stage, final Simulation.Size size) {
        final int length = simulation.pictureLength(size);
        stage.array(Stage.PICTURE, (long) length * Integer.BYTES);
        simulation.draw(stage);
        return stage.ints(Stage.PICTURE, length);
    }

    /** Finds the least heap with which no object is refused. */
    private JsonLine memory(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        final Simulation.Reference reference = simulation.reference(size);
        final int idBytes = work.store().isObjectHeap() ? Integer.BYTES : Long.BYTES;
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
        while (enough - little > enough / PRECISION) {
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

    /** Finds the largest problem of which no object is refused in the same heap for all stores. */
    private JsonLine largest(final ProgramCase work, final Simulation.Size first, final BenchDevice device) {
        final int largest = LargestProblem.find(
                first.number(), number -> isEnough(work, first.withNumber(number), work.heapBytes(), device));
        return largest == 0
                ? work.json().put("status", "refused").put("message", "the heap isn't enough")
                : work.json().put("status", "ok").put("elements", simulation.elements(first.withNumber(largest)));
    }

    private boolean isEnough(
            final ProgramCase work, final Simulation.Size size, final long heapBytes, final BenchDevice device) {
        try (TimedStage stage = stage(work, size, heapBytes, device)) {
            final long began = System.nanoTime();
            if (!simulation.start(stage, size)) {
                return false;
            }
            steps(stage, 1, work.steps());
            if (stage.refused() != 0) {
                return false;
            }
            peerSeconds = Math.min(PEER_SECONDS, 1 + PEER_PATIENCE * (System.nanoTime() - began) / 1e9);
            return true;
        } catch (final IllegalArgumentException e) {
            return false; // There is no room for a block.
        } catch (final IllegalStateException e) {
            if (work.store().isPeer()) {
                return false; // As in the paper: an application may crash when memory is used up.
            }
            throw e;
        }
    }

    /**
     * Checks that nothing goes wrong for long: all runs must have the same checksum, and the heap must count the
     * objects that the picture shows. The picture isn't compared with the CPU's, which takes some 4 ms for a step of
     * 256 x 256 cells, 20 minutes for all; the timed runs show that the steps are the same.
     */
    private JsonLine endurance(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        try (TimedStage stage = stage(work, size, device)) {
            if (!simulation.start(stage, size)) {
                return noRoom(work);
            }
            for (int step = 1; step <= work.steps(); step += STEPS_AT_ONCE) {
                steps(stage, step, Math.min(work.steps(), step + STEPS_AT_ONCE - 1));
                device.stopwatch().synchronize();
            }
            if (stage.refused() != 0) {
                return refused(work, stage);
            }
            final int[] picture = drawn(stage, size);
            final Storage.Usage full = stage.usage();
            return ended(
                    work.json()
                            .put("status", "ok")
                            .put("objects", full.objects())
                            .put("heldBytes", full.heldBytes())
                            .put("miscounted", Math.abs(full.objects() - simulation.objectsIn(picture)))
                            .put("checksum", (long) Arrays.hashCode(picture)),
                    stage);
        }
    }

    private TimedStage stage(final ProgramCase work, final Simulation.Size size, final BenchDevice device) {
        return stage(work, size, work.heapBytes(), device);
    }

    private TimedStage stage(
            final ProgramCase work, final Simulation.Size size, final long heapBytes, final BenchDevice device) {
        final List<ObjectType> types = simulation.types(size);
        if (work.store().isPeer()) {
            final Process process = PeerPrograms.start(work.resource(), List.of(String.valueOf(device.number())));
            return new ProcessStage(process, types, heapBytes, peerSeconds);
        }
        final KernelModule module = module(work.store());
        return new DeviceStage(device, module, Storage.of(device, work.store(), types, heapBytes), types);
    }

    private KernelModule module(final Store store) {
        return modules.computeIfAbsent(
                store.resource(name()),
                resource -> KernelModule.load(resource, TextResource.read(Program.class, resource)));
    }

    /** Returns the CPU's result, computed once for all stores with the same number of steps. */
    private Simulation.Reference reference(final Simulation.Size size, final int steps) {
        return references.computeIfAbsent(size.name() + " " + steps, key -> {
            final Simulation.Reference reference = simulation.reference(size);
            for (int step = 0; step < steps; step++) {
                reference.step();
            }
            return reference;
        });
    }
}
