package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import io.outboard.bench.kernels.programs.Store;
import java.util.Arrays;
import java.util.List;

/** The game of life, as in {@code life.cu}, is a simulation of cells that are alive or candidates. */
public final class Life implements Simulation {

    static final int EMPTY = 0;
    static final int CANDIDATE = 1;
    static final int ALIVE = 2;

    private static final int WIDTH = Stage.OWN;
    private static final int PLACES = Stage.OWN + 1;
    private static final int KINDS = Stage.OWN + 2;

    private static final int MOST_SHADES = 256;

    @Override
    public String name() {
        return "life";
    }

    @Override
    public List<Store> stores() {
        return Store.ofObjects();
    }

    @Override
    public List<Size> sizes() {
        return List.of(new Size("512x512", 512, 200, 256L << 20), new Size("4096x4096", 4096, 50, 4L << 30));
    }

    private static int places(final Size size) {
        return size.number() * size.number();
    }

    @Override
    public List<ObjectType> types(final Size size) {
        // Between two lists, each object ends at most once, and is made at most once.
        return List.of(
                ObjectType.of("Candidate", 2L * places(size), 4, 4),
                ObjectType.of("Alive", 2L * places(size), 4, 4, 4));
    }

    @Override
    public int pictureLength(final Size size) {
        return places(size);
    }

    @Override
    public boolean hasLongRuns() {
        return false;
    }

    @Override
    public long objectsIn(final int... picture) {
        return Arrays.stream(picture).filter(seen -> (seen & 3) != EMPTY).count();
    }

    @Override
    public boolean start(final Stage stage, final Size size) {
        stage.set(WIDTH, size.number());
        stage.set(PLACES, places(size));
        stage.array(KINDS, places(size));
        stage.launch("populate");
        stage.forEach("Alive", "spread");
        return stage.refused() == 0;
    }

    @Override
    public void step(final Stage stage, final int step) {
        stage.forEach("Candidate", "judgeCandidates");
        stage.forEach("Alive", "judgeAlive");
        stage.forEach("Candidate", "changeCandidates");
        stage.forEach("Alive", "spread");
    }

    @Override
    public void draw(final Stage stage) {
        stage.launch("draw");
        stage.forEach("Candidate", "drawCandidates");
        stage.forEach("Alive", "drawAlive");
    }

    @Override
    public Reference reference(final Size size) {
        return new LifeReference(size.number());
    }

    @Override
    public String png(final Size size, final int... picture) {
        final int columns = Math.min(size.number(), MOST_SHADES);
        final byte[] shades = new byte[columns * columns];
        for (int i = 0; i < shades.length; i++) {
            final int kind = picture[i / columns * size.number() + i % columns] & 3;
            shades[i] = (byte) (kind == ALIVE ? 0 : kind == CANDIDATE ? 210 : 255);
        }
        return Png.base64(columns, shades);
    }
}
