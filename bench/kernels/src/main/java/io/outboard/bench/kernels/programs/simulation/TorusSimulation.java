package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.Png;
import java.util.List;

/** A simulation on a torus of cells, one at each place ({@code torus.cuh}). */
abstract class TorusSimulation implements Simulation {

    /** The first word of a simulation's own. */
    static final int OWN = Stage.OWN + 3;

    private static final int WIDTH = Stage.OWN;
    private static final int CELLS = Stage.OWN + 1;
    private static final int IDS = Stage.OWN + 2;

    private static final int MOST_SHADES = 256;

    static long cells(final Size size) {
        return (long) size.number() * size.number();
    }

    /** Returns the shade of a place of the picture; 0 is black. */
    abstract byte shade(int seen);

    @Override
    public final List<Size> sizes() {
        return List.of(new Size("256x256", 256, 500, 256L << 20), new Size("2048x2048", 2048, 40, 4L << 30));
    }

    @Override
    public final Size searched() {
        return new Size("largest", 64, 50, 256L << 20);
    }

    @Override
    public final long elements(final Size size) {
        return cells(size);
    }

    @Override
    public final int pictureLength(final Size size) {
        return (int) cells(size);
    }

    @Override
    public final boolean hasLongRuns() {
        return true;
    }

    @Override
    public final boolean start(final Stage stage, final Size size) {
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
    public final String png(final Size size, final int... picture) {
        final int columns = Math.min(size.number(), MOST_SHADES);
        final byte[] shades = new byte[columns * columns];
        for (int i = 0; i < shades.length; i++) {
            shades[i] = shade(picture[i / columns * size.number() + i % columns]);
        }
        return Png.base64(columns, shades);
    }
}
