package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** A plate of nodes and springs is pulled until it breaks, as in {@code structure.cu}. */
public final class Structure implements Simulation {

    /** The rows of nodes; a size says how many columns there are. */
    static final int ROWS = 64;

    /** The directions in which a node has springs to nodes after it, and as many from nodes before. */
    static final int DIRECTIONS = 4;

    /** The steps from one search for what has come off to the next. */
    static final int STEPS_A_SEARCH = 10;

    static final int NUMBERS_A_NODE = 3;

    private static final int COLUMNS_WORD = Stage.OWN;
    private static final int ROWS_WORD = Stage.OWN + 1;
    private static final int IDS = Stage.OWN + 2;
    private static final int FOUND = Stage.OWN + 3;

    /** The rounds of a search before the host asks whether they found anything. */
    private static final int ROUNDS = 4;

    private static final int PIXELS = 256;
    private static final int SHADES_A_SPRING = 30;

    @Override
    public String name() {
        return "structure";
    }

    @Override
    public List<Size> sizes() {
        return List.of(new Size("256x64", 256, 500, 256L << 20), new Size("16384x64", 16384, 100, 4L << 30));
    }

    private static int nodes(final Size size) {
        return size.number() * ROWS;
    }

    @Override
    public Size searched() {
        return new Size("largest", 16, 1, 256L << 20);
    }

    @Override
    public long elements(final Size size) {
        return nodes(size);
    }

    @Override
    public List<ObjectType> types(final Size size) {
        final int id = ObjectType.ID;
        return List.of(
                ObjectType.of("Node", nodes(size), 4, 4, 4, 4, 4, 4, 4, id, id, id, id, id, id, id, id)
                        .named(
                                "x", "y", "speedX", "speedY", "number", "kind", "state", "after0", "after1", "after2",
                                "after3", "before0", "before1", "before2", "before3"),
                ObjectType.of("Spring", (long) DIRECTIONS * nodes(size), id, id, 4, 4, 4, 4, 4)
                        .named("first", "second", "direction", "rest", "longest", "forceX", "forceY"));
    }

    @Override
    public int pictureLength(final Size size) {
        return NUMBERS_A_NODE * nodes(size);
    }

    @Override
    public boolean hasLongRuns() {
        return false;
    }

    /** Counts the nodes, and the springs from each to those after it. */
    @Override
    public long objectsIn(final int... picture) {
        return IntStream.range(0, picture.length / NUMBERS_A_NODE)
                .map(node -> Integer.bitCount(picture[NUMBERS_A_NODE * node + 2] & ((1 << (1 + DIRECTIONS)) - 1)))
                .sum();
    }

    @Override
    public boolean start(final Stage stage, final Size size) {
        stage.set(COLUMNS_WORD, size.number());
        stage.set(ROWS_WORD, ROWS);
        stage.array(IDS, (long) nodes(size) * stage.idBytes());
        stage.array(FOUND, Long.BYTES);
        stage.launch("makeNodes");
        if (stage.refused() != 0) {
            return false;
        }
        stage.forEach("Node", "makeSprings");
        return stage.refused() == 0;
    }

    @Override
    public void step(final Stage stage, final int step) {
        stage.forEach("Spring", "stretch");
        stage.forEach("Node", "move");
        if (step % STEPS_A_SEARCH == 0) {
            stage.forEach("Node", "beginAtEdges");
            long before;
            long found = stage.count(FOUND);
            do {
                before = found;
                for (int round = 0; round < ROUNDS; round++) {
                    stage.launch("reach");
                }
                found = stage.count(FOUND);
            } while (found != before);
            stage.forEach("Spring", "takeSprings");
            stage.forEach("Node", "takeNodes");
        }
    }

    @Override
    public void draw(final Stage stage) {
        stage.forEach("Node", "draw");
        stage.forEach("Spring", "drawSprings");
    }

    @Override
    public Reference reference(final Size size) {
        return new StructureReference(size.number());
    }

    /** Draws nodes where they are, the darker the more springs they have. */
    @Override
    public String png(final Size size, final int... picture) {
        final byte[] shades = new byte[PIXELS * PIXELS];
        Arrays.fill(shades, (byte) 255);
        for (int at = 0; at < picture.length; at += NUMBERS_A_NODE) {
            final int seen = picture[at + 2];
            final int column = Math.round(Float.intBitsToFloat(picture[at]));
            final int row = Math.round(Float.intBitsToFloat(picture[at + 1]) * 2);
            if (seen != 0 && column >= 0 && column < PIXELS && row >= 0 && row < PIXELS) {
                final int springs = Integer.bitCount(seen >>> 1 & 255);
                shades[row * PIXELS + column] = (byte) (240 - SHADES_A_SPRING * springs);
            }
        }
        return Png.base64(PIXELS, shades);
    }
}
