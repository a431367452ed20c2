package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import java.util.Arrays;
import java.util.List;

/** Wa-Tor (Dewdney 1984) is a sea of fish and sharks, as in {@code wator.cu}. */
public final class Wator implements Simulation {

    static final int WATER = 0;
    static final int FISH = 1;
    static final int SHARK = 2;

    private static final int WIDTH = Stage.OWN;
    private static final int CELLS = Stage.OWN + 1;
    private static final int IDS = Stage.OWN + 2;

    private static final int MOST_SHADES = 256;
    private static final byte[] SHADES = {(byte) 255, (byte) 160, 0};

    @Override
    public String name() {
        return "wator";
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
                ObjectType.of("Cell", cells, id, 4, 4, id, 4, 4, id, id, id, id)
                        .named(
                                "agent",
                                "kind",
                                "requests",
                                "winner",
                                "random",
                                "place",
                                "left",
                                "right",
                                "above",
                                "below"),
                ObjectType.thatComesAndGoes("Fish", cells, id, id, 4, 4).named("home", "target", "state", "age"),
                ObjectType.thatComesAndGoes("Shark", cells, id, id, 4, 4, 4)
                        .named("home", "target", "state", "age", "energy"));
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

    /** Counts a cell at each place, and the animals in some. */
    @Override
    public long objectsIn(final int... picture) {
        return picture.length
                + Arrays.stream(picture).filter(seen -> seen != WATER).count();
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
        stage.forEach("Cell", "clearRequests");
        stage.forEach("Fish", "fishAsk");
        stage.forEach("Cell", "decide");
        stage.forEach("Fish", "fishMove");
        stage.forEach("Cell", "clearRequests");
        stage.forEach("Shark", "sharksAsk");
        stage.forEach("Cell", "decide");
        stage.forEach("Shark", "sharksMove");
    }

    @Override
    public void draw(final Stage stage) {
        stage.forEach("Cell", "draw");
        stage.forEach("Fish", "drawFish");
        stage.forEach("Shark", "drawSharks");
    }

    @Override
    public Reference reference(final Size size) {
        return new WatorReference(size.number());
    }

    @Override
    public String png(final Size size, final int... picture) {
        final int columns = Math.min(size.number(), MOST_SHADES);
        final byte[] shades = new byte[columns * columns];
        for (int i = 0; i < shades.length; i++) {
            shades[i] = SHADES[picture[i / columns * size.number() + i % columns] & 3];
        }
        return Png.base64(columns, shades);
    }
}
