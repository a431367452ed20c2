package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import java.util.Arrays;
import java.util.List;

/**
 * The game of life, as in {@code life.cu}, is a simulation of cells that are alive or candidates; or also of those that
 * are old and count no longer.
 */
public final class Life implements Simulation {

    /**
     * A rule says what becomes of a place.
     *
     * @param stays bits for the numbers of neighbours with which one that is alive stays so
     * @param becomes bits for the numbers of neighbours with which a candidate becomes alive
     * @param oldAges how many steps one is old before it ends
     */
    record Rule(int stays, int becomes, int oldAges) {

        static final Rule LIFE = new Rule(1 << 2 | 1 << 3, 1 << 3, 0);
        static final Rule STAR_WARS = new Rule(1 << 3 | 1 << 4 | 1 << 5, 1 << 2, 2);
    }

    static final int EMPTY = 0;
    static final int CANDIDATE = 1;
    static final int ALIVE = 2;
    static final int OLD = 3;

    private static final int WIDTH = Stage.OWN;
    private static final int PLACES = Stage.OWN + 1;
    private static final int KINDS = Stage.OWN + 2;

    private static final int MOST_SHADES = 256;
    private static final byte[] SHADES = {(byte) 255, (byte) 210, 0, 120};

    private final boolean growsOld;

    /**
     * Makes the game.
     *
     * @param growsOld whether cells grow old before they end
     */
    public Life(final boolean growsOld) {
        this.growsOld = growsOld;
    }

    @Override
    public String name() {
        return growsOld ? "generation" : "life";
    }

    @Override
    public List<Size> sizes() {
        return List.of(new Size("512x512", 512, 200, 256L << 20), new Size("4096x4096", 4096, 50, 4L << 30));
    }

    @Override
    public Size searched() {
        return new Size("largest", 64, 50, 256L << 20);
    }

    @Override
    public long elements(final Size size) {
        return places(size);
    }

    /** Returns the places in a row, a power of two: as many as there are rows, if the size's number is one. */
    private static int columns(final Size size) {
        return Integer.highestOneBit(size.number());
    }

    private static int rows(final Size size) {
        return (int) ((long) size.number() * size.number() / columns(size));
    }

    private static int places(final Size size) {
        return columns(size) * rows(size);
    }

    @Override
    public List<ObjectType> types(final Size size) {
        return List.of(
                ObjectType.thatComesAndGoes("Candidate", places(size), 4, 4).named("place", "action"),
                ObjectType.thatComesAndGoes("Alive", places(size), 4, 4, 4).named("place", "action", "age"));
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
        stage.set(WIDTH, columns(size));
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
        return new LifeReference(columns(size), rows(size), growsOld ? Rule.STAR_WARS : Rule.LIFE);
    }

    @Override
    public String png(final Size size, final int... picture) {
        final int columns = Math.min(columns(size), MOST_SHADES);
        final byte[] shades = new byte[columns * columns];
        for (int i = 0; i < shades.length; i++) {
            shades[i] = SHADES[picture[i / columns * columns(size) + i % columns] & 3];
        }
        return Png.base64(columns, shades);
    }
}
