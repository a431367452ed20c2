package io.outboard.cuda.internal.facade;

import io.outboard.cuda.OutboardOptions;
import io.outboard.pool.ReusePolicy;

/** The program ends with a block in use, behind whose end it has written. */
public final class PoisonProbe {

    private PoisonProbe() {}

    public static void main(final String... arguments) {
        final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
        program.pools.configure(OutboardOptions.ofProperties().withMemoryCheck(arguments.length > 0));
        program.cuda.write(program.malloc(1000) + 1000, 7);
    }
}
