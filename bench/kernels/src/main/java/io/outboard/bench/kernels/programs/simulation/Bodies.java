package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import io.outboard.bench.kernels.programs.Png;
import java.util.List;
import java.util.stream.IntStream;

/** Bodies attract each other, and merge or not, as in {@code bodies.cuh}. */
public final class Bodies implements Simulation {

    private static final int BODIES = Stage.OWN;
    private static final int RADIUS = Stage.OWN + 1;
    private static final int NUMBERS_A_BODY = 3;
    private static final int PIXELS = 256;

    private final boolean merging;

    public Bodies(final boolean merging) {
        this.merging = merging;
    }

    @Override
    public String name() {
        return merging ? "collision" : "nbody";
    }

    @Override
    public List<Size> sizes() {
        return List.of(new Size("4096", 4096, 50, 64L << 20), new Size("32768", 32768, 10, 256L << 20));
    }

    @Override
    public Size searched() {
        return new Size("largest", 1024, 1, 8L << 20);
    }

    @Override
    public long elements(final Size size) {
        return size.number();
    }

    @Override
    public List<ObjectType> types(final Size size) {
        return List.of(ObjectType.of("Body", size.number(), 4, 4, 4, 4, 4, 8, 8, 4, ObjectType.ID, 4, 4)
                .named(
                        "x", "y", "mass", "speedX", "speedY", "forceX", "forceY", "number", "target", "suitor",
                        "merges"));
    }

    @Override
    public int pictureLength(final Size size) {
        return NUMBERS_A_BODY * size.number();
    }

    @Override
    public boolean hasLongRuns() {
        return false;
    }

    /**
     * Returns the squared distance below which two bodies merge: at the start, about one pair of neighbours in a
     * thousand is that close.
     */
    private static float radius(final Size size) {
        return 0.1f / size.number();
    }

    /** Counts the bodies with mass; those that have merged into others have none. */
    @Override
    public long objectsIn(final int... picture) {
        return IntStream.range(0, picture.length / NUMBERS_A_BODY)
                .filter(body -> picture[NUMBERS_A_BODY * body + 2] != 0)
                .count();
    }

    @Override
    public boolean start(final Stage stage, final Size size) {
        stage.set(BODIES, size.number());
        stage.set(RADIUS, Float.floatToRawIntBits(radius(size)));
        stage.launch("makeBodies");
        return stage.refused() == 0;
    }

    @Override
    public void step(final Stage stage, final int step) {
        stage.forEach("Body", "attract");
        stage.forEach("Body", "advance");
        if (merging) {
            stage.forEach("Body", "seek");
            stage.forEach("Body", "ask");
            stage.forEach("Body", "decide");
            stage.forEach("Body", "merge");
        }
    }

    @Override
    public void draw(final Stage stage) {
        stage.forEach("Body", "draw");
    }

    @Override
    public Reference reference(final Size size) {
        return new BodiesReference(size.number(), merging ? radius(size) : -1);
    }

    @Override
    public String png(final Size size, final int... picture) {
        final byte[] shades = new byte[PIXELS * PIXELS];
        for (int i = 0; i < picture.length; i += NUMBERS_A_BODY) {
            final int column = pixel(Float.intBitsToFloat(picture[i]));
            final int row = pixel(Float.intBitsToFloat(picture[i + 1]));
            final float mass = Float.intBitsToFloat(picture[i + 2]);
            if (mass > 0) {
                final int at = row * PIXELS + column;
                shades[at] = (byte) Math.min(255, Math.max(shades[at] & 0xff, (int) (64 + 64 * mass)));
            }
        }
        return Png.base64(PIXELS, shades);
    }

    private static int pixel(final float at) {
        return Math.max(0, Math.min(PIXELS - 1, (int) (at * PIXELS)));
    }
}
