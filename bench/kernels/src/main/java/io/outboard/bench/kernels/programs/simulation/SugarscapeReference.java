package io.outboard.bench.kernels.programs.simulation;

import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * The reference simulates the land of sugar on the CPU with the same steps as {@code sugarscape.cu}, and arrays over
 * places. Confined to one thread.
 */
final class SugarscapeReference implements Simulation.Reference {

    private static final int SIDES = 4;
    private static final int NONE = -1;
    private static final int RICHEST = 4;
    private static final int FARTHEST = 6;
    private static final int HUNGRIEST = 4;
    private static final int OLDEST = 100;
    private static final int FERTILE_FROM = 12;
    private static final int FERTILE_TO = 50;
    private static final int ENDOWMENT = 40;
    private static final int VISITED = 1 << 2;

    private final int width;
    private final int[] sugar;
    private final int[] mostSugar;
    /** Of whoever is at a place. */
    private final int[] kinds;

    private final int[] states;
    private final int[] wealth;
    private final int[] ages;
    private final int[] mostAges;
    private final int[] sight;
    private final int[] metabolism;
    private final int[] targets;
    private final int[] fathers;
    /** Of each place, whoever wants it most: a place. */
    private final int[] winners;

    private int step;

    SugarscapeReference(final int width) {
        this.width = width;
        final int cells = width * width;
        sugar = new int[cells];
        kinds = new int[cells];
        states = new int[cells];
        wealth = new int[cells];
        ages = new int[cells];
        mostAges = new int[cells];
        sight = new int[cells];
        metabolism = new int[cells];
        targets = new int[cells];
        fathers = new int[cells];
        winners = new int[cells];
        mostSugar = IntStream.range(0, cells).map(this::mostSugar).toArray();
        for (int place = 0; place < cells; place++) {
            sugar[place] = mostSugar[place];
            int state = Dice.next(Dice.seed(place));
            if (Dice.value(state) >>> 30 == 0) {
                state = Dice.next(state);
                wealth[place] = ENDOWMENT / 2 + Dice.below(state, ENDOWMENT);
                state = Dice.next(state);
                ages[place] = Dice.below(state, FERTILE_TO);
                state = Dice.next(state);
                sight[place] = 1 + Dice.below(state, FARTHEST);
                state = Dice.next(state);
                metabolism[place] = 1 + Dice.below(state, HUNGRIEST);
                state = Dice.next(state);
                make(place, Dice.value(state));
            }
        }
    }

    private int mostSugar(final int place) {
        final int column = place % width;
        final int row = place / width;
        final long first = away(column, width / 4) + away(row, width / 4 * 3);
        final long second = away(column, width / 4 * 3) + away(row, width / 4);
        final long rings = Math.min(first, second) * (4 * RICHEST) / ((long) width * width);
        return RICHEST - (int) Math.min(rings, RICHEST);
    }

    private long away(final int at, final int hill) {
        final int distance = Math.abs(at - hill);
        final long shorter = Math.min(distance, width - distance);
        return shorter * shorter;
    }

    /** Makes a man or a woman, whose wealth, age, sight and metabolism are known. */
    private void make(final int place, final int chance) {
        final int ofSex = Dice.next(chance);
        kinds[place] = Dice.value(ofSex) >>> 31 == 0 ? Sugarscape.MAN : Sugarscape.WOMAN;
        states[place] = Dice.next(ofSex);
        mostAges[place] = OLDEST - Dice.below(states[place], 40);
    }

    /** Returns a number that differs between places; compared as unsigned. */
    private int priority(final int place) {
        return (place + step * 0x9E3779B9) * 0x85EBCA6B;
    }

    @Override
    public void step() {
        step++;
        each(place -> {
            sugar[place] += sugar[place] < mostSugar[place] ? 1 : 0;
            targets[place] = NONE;
            fathers[place] = NONE;
        });
        each(place -> targets[place] = kinds[place] == Sugarscape.NOBODY ? NONE : bestInSight(place));
        chooseWinners();
        final int[] before = kinds.clone();
        for (int place = 0; place < before.length; place++) {
            if (before[place] != Sugarscape.NOBODY) {
                live(place);
            }
        }
        final int[] asked = new int[kinds.length];
        each(place -> asked[place] = kinds[place] == Sugarscape.MAN && isFertile(place) ? womanBeside(place) : NONE);
        each(place -> targets[place] =
                kinds[place] == Sugarscape.WOMAN && isFertile(place) ? cellForAChild(asked, place) : NONE);
        chooseWinners();
        for (int place = 0; place < kinds.length; place++) {
            if (targets[place] != NONE && winners[targets[place]] == place) {
                bear(place, fathers[place], targets[place]);
            }
        }
    }

    /** Gives each target to the one with the least priority of those that want it. */
    private void chooseWinners() {
        Arrays.fill(winners, NONE);
        for (int place = 0; place < targets.length; place++) {
            final int target = targets[place];
            if (target != NONE
                    && (winners[target] == NONE
                            || Integer.compareUnsigned(priority(place), priority(winners[target])) < 0)) {
                winners[target] = place;
            }
        }
    }

    private int bestInSight(final int place) {
        states[place] = Dice.next(states[place]);
        final int first = Dice.value(states[place]) >>> 30;
        int most = sugar[place];
        int nearest = 0;
        int target = NONE;
        for (int i = 0; i < SIDES; i++) {
            int seen = place;
            for (int distance = 1; distance <= sight[place]; distance++) {
                seen = side(seen, (first + i) % SIDES);
                if (kinds[seen] == Sugarscape.NOBODY
                        && (sugar[seen] > most || (sugar[seen] == most && distance < nearest))) {
                    most = sugar[seen];
                    nearest = distance;
                    target = seen;
                }
            }
        }
        return target;
    }

    private void live(final int place) {
        final int target = targets[place];
        final int now = target != NONE && winners[target] == place ? target : place;
        if (now != place) {
            for (final int[] values : new int[][] {kinds, states, wealth, ages, mostAges, sight, metabolism}) {
                values[now] = values[place];
            }
            kinds[place] = Sugarscape.NOBODY;
        }
        final int all = wealth[now] + sugar[now];
        sugar[now] = 0;
        if (all < metabolism[now] || ++ages[now] > mostAges[now]) {
            kinds[now] = Sugarscape.NOBODY;
        } else {
            wealth[now] = all - metabolism[now];
        }
    }

    private boolean isFertile(final int place) {
        return ages[place] >= FERTILE_FROM && ages[place] < FERTILE_TO && wealth[place] >= ENDOWMENT;
    }

    private int womanBeside(final int place) {
        final int women = sidesWith(place, Sugarscape.WOMAN);
        if (women == 0) {
            return NONE;
        }
        states[place] = Dice.next(states[place]);
        return side(place, Torus.nth(women, Dice.below(states[place], Integer.bitCount(women))));
    }

    private int cellForAChild(final int[] asked, final int place) {
        int men = 0;
        for (int side = 0; side < SIDES; side++) {
            men |= asked[side(place, side)] == place ? 1 << side : 0;
        }
        final int room = sidesWith(place, Sugarscape.NOBODY);
        if (men == 0 || room == 0) {
            return NONE;
        }
        states[place] = Dice.next(states[place]);
        fathers[place] = side(place, Torus.nth(men, Dice.below(states[place], Integer.bitCount(men))));
        states[place] = Dice.next(states[place]);
        return side(place, Torus.nth(room, Dice.below(states[place], Integer.bitCount(room))));
    }

    private int sidesWith(final int place, final int kind) {
        int sides = 0;
        for (int side = 0; side < SIDES; side++) {
            sides |= kinds[side(place, side)] == kind ? 1 << side : 0;
        }
        return sides;
    }

    private void bear(final int mother, final int father, final int child) {
        wealth[mother] -= ENDOWMENT / 2;
        wealth[father] -= ENDOWMENT / 2;
        states[mother] = Dice.next(states[mother]);
        final int chance = Dice.value(states[mother]);
        wealth[child] = ENDOWMENT;
        ages[child] = 0;
        sight[child] = sight[(chance & 1) != 0 ? mother : father];
        metabolism[child] = metabolism[(chance & 2) != 0 ? mother : father];
        make(child, chance);
    }

    private void each(final IntConsumer action) {
        IntStream.range(0, kinds.length).parallel().forEach(action);
    }

    private int side(final int place, final int number) {
        return Torus.side(width, kinds.length, place, number);
    }

    @Override
    public int[] picture() {
        return IntStream.range(0, kinds.length)
                .map(place -> sugar[place] << 4
                        | (kinds[place] == Sugarscape.NOBODY
                                ? 0
                                : kinds[place] | VISITED | ages[place] << 8 | (wealth[place] & 0xffff) << 16))
                .toArray();
    }

    @Override
    public long[] counts() {
        return new long[] {kinds.length, countOf(Sugarscape.MAN), countOf(Sugarscape.WOMAN)};
    }

    private long countOf(final int kind) {
        return Arrays.stream(kinds).filter(each -> each == kind).count();
    }
}
