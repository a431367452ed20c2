package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import java.util.Arrays;
import java.util.List;

/** Men and women live on a land of sugar (Epstein and Axtell 1996), as in {@code sugarscape.cu}. */
public final class Sugarscape implements Simulation {

    static final int NOBODY = 0;
    static final int MAN = 1;
    static final int WOMAN = 2;

    private static final int WIDTH = Stage.OWN;
    private static final int CELLS = Stage.OWN + 1;
    private static final int IDS = Stage.OWN + 2;
    private static final int STEP = Stage.OWN + 3;

    private static final int MOST_SHADES = 256;
    private static final int SHADES_OF_SUGAR = 25;

    @Override
    public String name() {
        return "sugarscape";
    }

    @Override
    public List<Size> sizes() {
        return List.of(new Size("256x256", 256, 500, 256L << 20), new Size("2048x2048", 2048, 40, 4L << 30));
    }

    @Override
    public Size searched() {
        return new Size("largest", 64, 50, 256L << 20);
    }

    @Override
    public long elements(final Size size) {
        return cells(size);
    }

    @Override
    public List<ObjectType> types(final Size size) {
        final long cells = cells(size);
        final int id = ObjectType.ID;
        return List.of(
                ObjectType.of("Cell", cells, id, 4, 4, 4, 4, 4, 4, 4, id, id, id, id)
                        .named(
                                "agent",
                                "present",
                                "sugar",
                                "mostSugar",
                                "place",
                                "suggestions",
                                "guest",
                                "child",
                                "left",
                                "right",
                                "above",
                                "below"),
                ObjectType.thatComesAndGoes("Man", cells, id, id, 4, 4, 4, 4, 4, 4)
                        .named("home", "target", "state", "wealth", "age", "mostAge", "sight", "metabolism")
                        .extending("Agent", 8),
                ObjectType.thatComesAndGoes("Woman", cells, id, id, 4, 4, 4, 4, 4, 4, id)
                        .named("home", "target", "state", "wealth", "age", "mostAge", "sight", "metabolism", "father")
                        .extending("Agent", 8));
    }

    private static long cells(final Size size) {
        return (long) size.number() * size.number();
    }

    @Override
    public int pictureLength(final Size size) {
        return (int) cells(size);
    }

    @Override
    public boolean hasLongRuns() {
        return true;
    }

    /** Counts a cell at each place, and the agents in some. */
    @Override
    public long objectsIn(final int... picture) {
        return picture.length
                + Arrays.stream(picture).filter(seen -> (seen & 3) != NOBODY).count();
    }

    @Override
    public boolean start(final Stage stage, final Size size) {
        stage.set(WIDTH, size.number());
        stage.set(CELLS, cells(size));
        stage.array(IDS, cells(size) * stage.idBytes());
        stage.launch("makeCells");
        if (stage.refused() != 0) {
            return false;
        }
        stage.forEach("Cell", "populate");
        return stage.refused() == 0;
    }

    @Override
    public void step(final Stage stage, final int step) {
        stage.set(STEP, step);
        stage.forEach("Cell", "grow");
        stage.forEach("Man", "menLook");
        stage.forEach("Woman", "womenLook");
        stage.forEach("Man", "menLive");
        stage.forEach("Woman", "womenLive");
        stage.forEach("Man", "menAsk");
        stage.forEach("Woman", "womenChoose");
        stage.forEach("Woman", "womenBear");
    }

    @Override
    public void draw(final Stage stage) {
        stage.forEach("Cell", "draw");
        stage.forEach("Man", "drawMen");
        stage.forEach("Woman", "drawWomen");
    }

    @Override
    public Reference reference(final Size size) {
        return new SugarscapeReference(size.number());
    }

    /** Draws agents black, and cells the darker the more sugar they have. */
    @Override
    public String png(final Size size, final int... picture) {
        final int columns = Math.min(size.number(), MOST_SHADES);
        final byte[] shades = new byte[columns * columns];
        for (int i = 0; i < shades.length; i++) {
            final int seen = picture[i / columns * size.number() + i % columns];
            shades[i] = (byte) ((seen & 3) != NOBODY ? 0 : 255 - SHADES_OF_SUGAR * (seen >>> 4 & 7));
        }
        return Png.base64(columns, shades);
    }
}
