package io.outboard.bench.kernels.programs.kd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.kernels.HostProgram;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** This class tests the kernel that builds k-d trees, {@code kdtree.cu} itself, compiled for the CPU. */
@Tag("thorough")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class KdKernelTest {

    /** The numbers are so that many warps divide the root, and one divides each node below. */
    private static final int TRIANGLES = 9000;

    private static final int STATE_DONE = 1;
    private static final String WARPS = "4";

    @TempDir
    private static Path folder;

    private static @Nullable HostProgram program;

    private final KdScene scene = KdScene.of(TRIANGLES);
    private long[] counts = {};

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        program = new HostProgram(
                "kd/kdtree.cpp",
                folder,
                "-O1",
                // As nvcc's -fmad=false: the CPU in KdBuilder comes to the same planes.
                "-ffp-contract=off",
                "-DOUTBOARD_ALLOCATOR=outboard::CFMMalloc",
                "-DOUTBOARD_FLAGS=0");
    }

    @Test
    void shouldBuildTheTreeOfOneThreadAndFreeAllLists() throws IOException, InterruptedException {
        final KdBuilder reference = KdBuilder.build(scene, KdDevice.LEAF_REFERENCES, KdDevice.mostDepth(TRIANGLES));

        final KdNodes tree = build(1 << 20);

        assertEquals(0, tree.faults());
        assertEquals(reference.tree().count(), tree.count());
        assertEquals(reference.tree().depth(), tree.depth());
        assertEquals(reference.requests().requests(), counts[4]);
        assertEquals(reference.requests().bytes(), counts[5]);
        assertEquals(0, counts[1], "refused");
    }

    /** Some nodes aren't divided for want of memory, but all of them are there. */
    @Test
    void shouldStayATreeAndFreeAllListsWhereTheHeapIsTooSmall() throws IOException, InterruptedException {
        final KdNodes tree = build(100_000);

        assertEquals(1, counts[1], "refused");
        assertTrue(tree.count() > 1 && tree.references() > TRIANGLES, "nodes=" + tree.count());
        assertEquals(0, tree.faults());
    }

    private KdNodes build(final long heapBytes) throws IOException, InterruptedException {
        final float[] boxes = scene.boxes();
        final ByteBuffer in = ByteBuffer.allocate((boxes.length + scene.bounds().length) * Float.BYTES)
                .order(ByteOrder.nativeOrder());
        in.asFloatBuffer().put(boxes).put(scene.bounds());
        final Path file = Files.write(folder.resolve("tree"), in.array());

        counts = Arrays.stream(Objects.requireNonNull(program)
                        .run(
                                String.valueOf(TRIANGLES),
                                String.valueOf(KdDevice.LEAF_REFERENCES),
                                String.valueOf(KdDevice.mostDepth(TRIANGLES)),
                                String.valueOf(heapBytes),
                                WARPS,
                                file.toString())
                        .strip()
                        .split(" ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
        assertEquals(STATE_DONE, counts[0]);
        assertEquals(0, counts[8], "chunks in use");
        assertEquals(0, counts[9], "misuses");

        final ByteBuffer out = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
        final int[] nodes = new int[(int) counts[2] * KdNodes.NODE_INTS];
        final int[] references = new int[(int) counts[3]];
        out.asIntBuffer().get(nodes).get(references);
        return new KdNodes(scene, nodes, references);
    }
}
