package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import java.util.Arrays;
import java.util.List;

/** Cars drive in a city of one-way streets, as in {@code traffic.cu}. */
public final class Traffic implements Simulation {

    /** The cells of a street between two crossings. */
    static final int LENGTH = 15;

    private static final int WIDTH_WORD = Stage.OWN;
    private static final int LENGTH_WORD = Stage.OWN + 1;
    private static final int IDS = Stage.OWN + 2;
    private static final int STEP = Stage.OWN + 3;
    private static final int SOURCES = Stage.OWN + 4;
    private static final int SOURCE_CELLS = Stage.OWN + 5;
    private static final int SOURCE_STATES = Stage.OWN + 6;

    private static final int MOST_CROSSINGS = 16;

    @Override
    public String name() {
        return "traffic";
    }

    @Override
    public List<Size> sizes() {
        return List.of(new Size("48x48", 48, 500, 256L << 20), new Size("384x384", 384, 100, 4L << 30));
    }

    static int cells(final int width) {
        return width * width * (1 + 2 * LENGTH);
    }

    @Override
    public Size searched() {
        return new Size("largest", 8, 50, 256L << 20);
    }

    @Override
    public long elements(final Size size) {
        return cells(size.number());
    }

    @Override
    public List<ObjectType> types(final Size size) {
        final long cells = cells(size.number());
        final int id = ObjectType.ID;
        return List.of(
                ObjectType.of("Cell", cells, id, id, id, 4, 4, 4, 4)
                        .named("car", "next", "nextDown", "place", "limit", "isDrain", "downwards"),
                ObjectType.thatComesAndGoes("Car", cells, id, 4, 4, id, id, id, id, id)
                        .named("cell", "state", "speed", "path0", "path1", "path2", "path3", "path4"));
    }

    @Override
    public int pictureLength(final Size size) {
        return cells(size.number());
    }

    @Override
    public boolean hasLongRuns() {
        return false;
    }

    /** Counts all cells, and the cars on some. */
    @Override
    public long objectsIn(final int... picture) {
        return picture.length + Arrays.stream(picture).filter(seen -> seen != 0).count();
    }

    @Override
    public boolean start(final Stage stage, final Size size) {
        stage.set(WIDTH_WORD, size.number());
        stage.set(LENGTH_WORD, LENGTH);
        stage.array(IDS, (long) cells(size.number()) * stage.idBytes());
        stage.array(SOURCES, Integer.BYTES);
        stage.array(SOURCE_CELLS, (long) cells(size.number()) * stage.idBytes());
        stage.array(SOURCE_STATES, (long) cells(size.number()) * Integer.BYTES);
        stage.launch("makeCells");
        if (stage.refused() != 0) {
            return false;
        }
        stage.forEach("Cell", "connectCells");
        return stage.refused() == 0;
    }

    @Override
    public void step(final Stage stage, final int step) {
        stage.set(STEP, step);
        stage.launch("produce");
        stage.forEach("Car", "plan");
        stage.forEach("Car", "drive");
    }

    @Override
    public void draw(final Stage stage) {
        stage.forEach("Cell", "draw");
        stage.forEach("Car", "drawCars");
    }

    @Override
    public Reference reference(final Size size) {
        return new TrafficReference(size.number());
    }

    /** Draws streets grey, and cars the darker the slower they are. */
    @Override
    public String png(final Size size, final int... picture) {
        final int crossings = Math.min(size.number(), MOST_CROSSINGS);
        final int columns = crossings * (LENGTH + 1);
        final byte[] shades = new byte[columns * columns];
        for (int i = 0; i < shades.length; i++) {
            final int column = i % columns;
            final int row = i / columns;
            final int first = (row / (LENGTH + 1) * size.number() + column / (LENGTH + 1)) * (1 + 2 * LENGTH);
            final int right = column % (LENGTH + 1);
            final int down = row % (LENGTH + 1);
            if (right != 0 && down != 0) {
                shades[i] = (byte) 255;
            } else {
                final int seen = picture[first + (down == 0 ? right : LENGTH + down)];
                shades[i] = (byte) (seen == 0 ? 220 : (seen >>> 1 & 7) * 32);
            }
        }
        return Png.base64(columns, shades);
    }
}
