package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import java.util.Arrays;
import java.util.List;

/** Men and women live on a land of sugar (Epstein and Axtell 1996), as in {@code sugarscape.cu}. */
public final class Sugarscape extends TorusSimulation {

    static final int NOBODY = 0;
    static final int MAN = 1;
    static final int WOMAN = 2;

    private static final int STEP = OWN;

    private static final int SHADES_OF_SUGAR = 25;

    @Override
    public String name() {
        return "sugarscape";
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

    /** Counts a cell at each place, and the agents in some. */
    @Override
    public long objectsIn(final int... picture) {
        return picture.length
                + Arrays.stream(picture).filter(seen -> (seen & 3) != NOBODY).count();
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
    byte shade(final int seen) {
        return (byte) ((seen & 3) != NOBODY ? 0 : 255 - SHADES_OF_SUGAR * (seen >>> 4 & 7));
    }
}
