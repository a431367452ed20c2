package io.outboard.bench.kernels.programs.simulation;

import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * The reference simulates Wa-Tor on the CPU with the same steps as {@code wator.cu}, and arrays over places. Confined
 * to one thread.
 */
final class WatorReference implements Simulation.Reference {

    private static final int SIDES = 4;
    private static final int NONE = -1;
    private static final int FISH_AGE = 4;
    private static final int SHARK_AGE = 5;
    private static final int ENERGY_AT_FIRST = 2;
    private static final int ENERGY_OF_FISH = 4;
    private static final int SHARK_ENERGY_AT = 16;
    private static final int VISITED_FISH = 1 << 30;
    private static final int VISITED_SHARK = 1 << 31;

    private final int width;
    private final int[] kinds;
    private final int[] states;
    private final int[] ages;
    private final int[] energies;
    private final int[] cellStates;
    private final int[] targets;
    private final int[] requests;
    private final int[] winners;

    WatorReference(final int width) {
        this.width = width;
        final int cells = width * width;
        kinds = new int[cells];
        states = new int[cells];
        ages = new int[cells];
        energies = new int[cells];
        cellStates = new int[cells];
        targets = new int[cells];
        requests = new int[cells];
        winners = new int[cells];
        for (int place = 0; place < cells; place++) {
            int state = Dice.next(Dice.seed(place));
            final int chance = Dice.below(state, 48);
            cellStates[place] = state;
            state = Dice.next(state);
            if (chance < 16) {
                bear(place, Wator.FISH, Dice.value(state));
            } else if (chance < 19) {
                bear(place, Wator.SHARK, Dice.value(state));
            }
        }
    }

    private void bear(final int place, final int kind, final int state) {
        kinds[place] = kind;
        states[place] = state;
        ages[place] = 0;
        energies[place] = ENERGY_AT_FIRST;
        targets[place] = NONE;
    }

    @Override
    public void step() {
        half(Wator.FISH, Wator.WATER, Wator.WATER, FISH_AGE);
        half(Wator.SHARK, Wator.FISH, Wator.WATER, SHARK_AGE);
    }

    /** Does half a step: animals of one kind ask, cells decide, and the animals that were chosen move. */
    private void half(final int kind, final int best, final int other, final int age) {
        final int[] before = kinds.clone();
        each(place -> {
            winners[place] = NONE;
            targets[place] = before[place] == kind ? target(before, place, kind, best, other) : NONE;
        });
        each(place -> requests[place] = requestsOf(place));
        each(place -> {
            if (requests[place] != 0) {
                cellStates[place] = Dice.next(cellStates[place]);
                winners[place] = side(
                        place,
                        Torus.nth(requests[place], Dice.below(cellStates[place], Integer.bitCount(requests[place]))));
            }
        });
        each(place -> {
            if (before[place] == kind) {
                move(place, kind, age);
            }
        });
    }

    private int target(final int[] before, final int place, final int kind, final int best, final int other) {
        ages[place]++;
        if (kind == Wator.SHARK && --energies[place] == 0) {
            return NONE;
        }
        int wanted = 0;
        int possible = 0;
        for (int side = 0; side < SIDES; side++) {
            final int there = before[side(place, side)];
            wanted |= there == best ? 1 << side : 0;
            possible |= there == other ? 1 << side : 0;
        }
        final int sides = wanted != 0 ? wanted : possible;
        if (sides == 0) {
            return NONE;
        }
        states[place] = Dice.next(states[place]);
        return side(place, Torus.nth(sides, Dice.below(states[place], Integer.bitCount(sides))));
    }

    private int requestsOf(final int place) {
        int sides = 0;
        for (int side = 0; side < SIDES; side++) {
            sides |= targets[side(place, side)] == place ? 1 << side : 0;
        }
        return sides;
    }

    /** Moves an animal. Nobody else looks at the two places meanwhile, since the target chose no other animal. */
    private void move(final int place, final int kind, final int age) {
        if (kind == Wator.SHARK && energies[place] == 0) {
            kinds[place] = Wator.WATER;
            return;
        }
        final int target = targets[place];
        if (target == NONE || winners[target] != place) {
            return;
        }
        final int gained = kind == Wator.SHARK && kinds[target] == Wator.FISH ? ENERGY_OF_FISH : 0;
        kinds[target] = kind;
        energies[target] = energies[place] + gained;
        ages[target] = ages[place];
        states[target] = states[place];
        kinds[place] = Wator.WATER;
        if (ages[target] >= age) {
            ages[target] = 0;
            states[target] = Dice.next(states[target]);
            bear(place, kind, Dice.value(states[target]));
        }
    }

    private void each(final IntConsumer action) {
        IntStream.range(0, kinds.length).parallel().forEach(action);
    }

    private int side(final int place, final int number) {
        return Torus.side(width, kinds.length, place, number);
    }

    @Override
    public int[] picture() {
        final int[] picture = new int[kinds.length];
        for (int place = 0; place < picture.length; place++) {
            picture[place] = switch (kinds[place]) {
                case Wator.FISH -> Wator.FISH | ages[place] << 2 | VISITED_FISH;
                case Wator.SHARK -> Wator.SHARK | ages[place] << 2 | energies[place] << SHARK_ENERGY_AT | VISITED_SHARK;
                default -> Wator.WATER;
            };
        }
        return picture;
    }

    @Override
    public long[] counts() {
        return new long[] {
            kinds.length,
            Arrays.stream(kinds).filter(kind -> kind == Wator.FISH).count(),
            Arrays.stream(kinds).filter(kind -> kind == Wator.SHARK).count()
        };
    }
}
