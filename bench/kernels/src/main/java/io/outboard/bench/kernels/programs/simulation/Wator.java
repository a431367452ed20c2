package io.outboard.bench.kernels.programs.simulation;

import io.outboard.bench.kernels.programs.ObjectType;
import java.util.Arrays;
import java.util.List;

/** Wa-Tor (Dewdney 1984) is a sea of fish and sharks, as in {@code wator.cu}. */
public final class Wator extends TorusSimulation {

    static final int WATER = 0;
    static final int FISH = 1;
    static final int SHARK = 2;

    private static final byte[] SHADES = {(byte) 255, (byte) 160, 0};

    @Override
    public String name() {
        return "wator";
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

    /** Counts a cell at each place, and the animals in some. */
    @Override
    public long objectsIn(final int... picture) {
        return picture.length
                + Arrays.stream(picture).filter(seen -> seen != WATER).count();
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
    byte shade(final int seen) {
        return SHADES[seen & 3];
    }
}
