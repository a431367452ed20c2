package io.outboard.bench.kernels.programs.kd;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.programs.Png;
import io.outboard.bench.kernels.programs.Program;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.cuda.kernels.DeviceAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The program builds a k-d tree in one kernel, with memory of 200 and of 20 times the root's list: Vinkler and Havran
 * 2014, section 7, tables 3 and 4; {@code kdtree.cu} says how. The scenes are generated, {@link KdScene}, with as many
 * triangles as some of the paper's, from its smallest to its largest.
 *
 * <p>The tree is compared with the scene: each leaf must have exactly the triangles that reach into it, and rays must
 * hit the same through the tree as by all triangles. A build that is refused memory has the status {@code refused} and
 * no times; its memory is freed all the same, and counted as leaked if it isn't.
 */
public final class KdTree implements Program {

    /**
     * The bytes of a reference in the root's list. The paper has the same: its memory of 200 times the root is less
     * than 256 MiB for scenes of up to 336 thousand triangles (section 7), which is 4 bytes a triangle.
     */
    private static final int REFERENCE_BYTES = Integer.BYTES;

    private static final int PLENTY = 200;
    private static final int SCARCE = 20;

    /** The sizes are the paper's Hand Stand, Sibenik, Conference, Dragon and Sodahall. */
    private static final List<String> TABLE_3 = List.of("20k", "80k", "280k", "870k", "2.2M");

    /** The sizes are two of the above, and the paper's House, Asian Dragon and Powerplant. */
    private static final List<String> TABLE_4 = List.of("280k", "2.2M", "3.3M", "7.2M", "12.7M");

    /** The largest scene for CUDA's malloc, with which a build takes many times as long. */
    private static final int MOST_FOR_CUDA = 280_000;

    private static final int STEPS = 5;
    private static final int RAYS = 256;

    /** The rays of a large scene are fewer, so that a CPU tests no more triangles. */
    private static final long TRIANGLES_OF_RAYS = 256_000_000;

    private static final int PICTURE_PIXELS = 96;
    private static final double MICROSECONDS_A_MILLISECOND = 1000;

    private static final String ARENA = "-arena";

    /**
     * The stores are the allocators as they are, since one thread of a warp allocates; buffers in front of CUDA's own;
     * and arenas of warps, as FDGMalloc has them over CUDA's own.
     */
    private static final List<Store> STORES = List.of(
            Store.plain(DeviceAllocator.BIT_MALLOC),
            Store.plain(DeviceAllocator.C_MALLOC),
            Store.plain(DeviceAllocator.CF_MALLOC),
            Store.plain(DeviceAllocator.CM_MALLOC),
            Store.plain(DeviceAllocator.CFM_MALLOC),
            Store.plain(DeviceAllocator.CUDA_MALLOC),
            new Store("CudaMalloc-buffered"),
            new Store("CudaMalloc" + ARENA),
            new Store("BitMalloc" + ARENA),
            Store.plain(DeviceAllocator.ATOMIC_MALLOC),
            Store.plain(DeviceAllocator.AW_MALLOC));

    /** The scene that was built last: a large one takes seconds to make, and stores follow one another. */
    private KdScene scene = KdScene.of(1000);

    @Override
    public String name() {
        return "kdtree";
    }

    @Override
    public List<Store> stores() {
        return STORES;
    }

    /** {@inheritDoc} The heap is a multiple of the root's list. */
    @Override
    public List<ProgramCase> cases(final Store store, final boolean quick) {
        final int steps = quick ? 1 : STEPS;
        return Stream.concat(
                        TABLE_3.stream().map(scene -> work(store, scene, PLENTY, steps)),
                        // What never frees needs room for all requests. Kernels can't find out how large the driver's
                        // heap is.
                        TABLE_4.stream()
                                .filter(scene -> canFree(store) && !store.isCuda())
                                .map(scene -> work(store, scene, SCARCE, steps)))
                .filter(work -> !store.isCuda() || trianglesOf(work.size()) <= MOST_FOR_CUDA)
                .limit(quick ? 1 : Long.MAX_VALUE)
                .toList();
    }

    @Override
    public List<ProgramCase> cases(final boolean quick) {
        final List<ProgramCase> all = new ArrayList<>(Program.super.cases(quick));
        all.sort(Comparator.comparingInt(work -> trianglesOf(work.size())));
        return all;
    }

    private ProgramCase work(final Store store, final String scene, final int factor, final int steps) {
        final long heapBytes = (long) factor * REFERENCE_BYTES * trianglesOf(scene);
        return new ProgramCase(name(), store, scene + "-" + factor + "x", ProgramCase.Mode.TIME, heapBytes, steps);
    }

    /** Returns whether lists can be freed while a tree is built. */
    private static boolean canFree(final Store store) {
        return store.allocator().orElseThrow().canFree() && !store.name().endsWith(ARENA);
    }

    private static int trianglesOf(final String size) {
        final String scene = size.replaceAll("-.*", "");
        final double number = Double.parseDouble(scene.substring(0, scene.length() - 1));
        return (int) Math.round(number * (scene.endsWith("M") ? 1_000_000 : 1_000));
    }

    @Override
    public JsonLine run(final ProgramCase work, final BenchDevice device) {
        final int triangles = trianglesOf(work.size());
        if (scene.triangles() != triangles) {
            scene = KdScene.of(triangles);
        }
        try (KdDevice build = new KdDevice(work, scene, device)) {
            final KdDevice.Tally tally = build.count();
            final int nodes = build.nodes();
            KdDevice.Leftover leftover = build.leftover();
            if (tally.refused() != 0) {
                // Without enough memory, each further build would be refused, too.
                return refused(work, tally.refused(), leftover);
            }
            final double[] times = new double[work.steps()];
            for (int i = 0; i < times.length; i++) {
                times[i] = build.time() / MICROSECONDS_A_MILLISECOND;
                leftover = leftover.and(build.leftover());
                if (Double.isNaN(times[i])) {
                    return refused(work, 1, leftover);
                }
            }
            // The kernel that is timed isn't the one that counts, so its tree is the one to be checked.
            final KdNodes timed = build.copy();
            final int rays = (int) Math.min(RAYS, TRIANGLES_OF_RAYS / triangles);
            final JsonLine json = built(work, scene, build, tally, timed, times)
                    .put("mismatches", new KdRays(scene).mismatches(timed, rays))
                    .put("faults", timed.faults() + Math.abs(nodes - timed.count()))
                    .put("refused", 0L);
            put(json, leftover);
            if (hasPicture(work)) {
                json.put("picture", Png.base64(PICTURE_PIXELS, picture(scene, timed)));
            }
            return json;
        }
    }

    /** Returns the result of a build that ended for want of memory: without a tree, and so without its numbers. */
    private static JsonLine refused(final ProgramCase work, final long requests, final KdDevice.Leftover leftover) {
        return put(
                work.json()
                        .put("status", "refused")
                        .put("message", "the heap isn't enough for the tree")
                        .put("refused", requests),
                leftover);
    }

    private static JsonLine put(final JsonLine json, final KdDevice.Leftover leftover) {
        return json.put("misuses", leftover.misuses()).put("leaked", leftover.usedChunks());
    }

    private static JsonLine built(
            final ProgramCase work,
            final KdScene scene,
            final KdDevice build,
            final KdDevice.Tally tally,
            final KdNodes tree,
            final double... times) {
        Arrays.sort(times);
        return work.json()
                .put("status", "ok")
                .put("buildMs", times[times.length / 2], 4)
                .put("leastBuildMs", times[0], 4)
                .put("registers", (long) build.registers())
                .put("warps", (long) build.warps())
                .put("requests", tally.requests())
                .put("meanBytes", tally.meanBytes(), 1)
                .put("deviationBytes", tally.deviationBytes(), 1)
                .put("greatestBytes", tally.greatest())
                .put("triangles", (long) scene.triangles())
                .put("referencesPerTriangle", (double) tree.references() / scene.triangles(), 2)
                .put("nodes", (long) tree.count())
                .put("leaves", (long) tree.leaves())
                .put("depth", (long) tree.depth());
    }

    private static boolean hasPicture(final ProgramCase work) {
        return work.store().equals(STORES.get(0)) && work.size().equals(TABLE_3.get(0) + "-" + PLENTY + "x");
    }

    /**
     * Draws the scene through the tree, from above one side and lit from the viewer's place: a byte for each pixel,
     * darker where it is further away.
     *
     * @return 96 rows of 96, from the top left
     */
    static byte[] picture(final KdScene scene, final KdNodes tree) {
        final byte[] pixels = new byte[PICTURE_PIXELS * PICTURE_PIXELS];
        IntStream.range(0, pixels.length).parallel().forEach(i -> {
            final int row = i / PICTURE_PIXELS;
            final int column = i % PICTURE_PIXELS;
            final double x = (column + 0.5) / PICTURE_PIXELS - 0.5;
            final double y = 0.5 - (row + 0.5) / PICTURE_PIXELS;
            // The viewer is above the corner that most spheres are near, and looks towards the middle.
            final double[] origin = {-60, 200, -100};
            final double[] direction = {0.59 + 0.81 * x, -0.42 + y, 0.81 - 0.59 * x};
            final KdRays.Ray ray = new KdRays.Ray(origin, direction);
            pixels[i] = (byte) shade(scene, tree.nearest(ray), ray);
        });
        return pixels;
    }

    /** Returns 0 where nothing is hit, otherwise 30 to 255. */
    private static long shade(final KdScene scene, final KdRays.Hit hit, final KdRays.Ray ray) {
        if (hit.triangle() < 0) {
            return 0;
        }
        final double facing = KdRays.facing(scene.corners(), hit.triangle(), ray);
        final double near = 1 / (1 + Math.pow(hit.distance() / 1200, 2));
        return Math.round(30 + 225 * near * (0.25 + 0.75 * facing));
    }
}
