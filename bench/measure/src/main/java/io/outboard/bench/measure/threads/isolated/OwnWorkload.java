package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/** Each thread replaces what is in random slots of its own; see {@code ThreadProfile.OWN}. */
final class OwnWorkload extends Workload {

    private final List<Slots> slots = new ArrayList<>();

    OwnWorkload(final ThreadSettings settings) {
        for (int i = 0; i < settings.threads(); i++) {
            slots.add(new Slots(settings, i));
        }
    }

    @Override
    int workers() {
        return slots.size();
    }

    @Override
    void work(final int worker, final Blocks blocks, final Round round, final Tally tally) {
        final Slots own = slots.get(worker);
        while (!round.isOver()) {
            tally.operations += own.replace(blocks, CHUNK);
        }
    }

    @Override
    void forEachLeft(final LongConsumer address) {
        slots.forEach(own -> own.forEachLeft(address));
    }
}
