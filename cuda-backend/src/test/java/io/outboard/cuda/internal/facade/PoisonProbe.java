package io.outboard.cuda.internal.facade;

import io.outboard.cuda.OutboardOptions;
import io.outboard.pool.ReusePolicy;
import java.util.List;

/**
 * The program ends with a block in use, behind whose end it has written; with the argument {@code late} it allocates
 * only when it ends.
 */
public final class PoisonProbe {

    private PoisonProbe() {}

    public static void main(final String... arguments) {
        final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
        program.pools.configure(OutboardOptions.ofProperties().withMemoryCheck(arguments.length > 0));
        final Runnable use = () -> {
            program.cuda.write(program.malloc(1000) + 1000, 7);
            System.out.println("allocated");
        };
        if (List.of(arguments).contains("late")) {
            Runtime.getRuntime().addShutdownHook(new Thread(use));
        } else {
            use.run();
        }
    }
}
