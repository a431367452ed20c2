package io.outboard.pool.internal.arena;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** One thread submits work and closes a batch with a block that it uses, another marks the device. */
public final class ProgressStress {

    private ProgressStress() {}

    /** A block is free to be reused only if the mark was behind its work, too. */
    @JCStressTest
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "the mark was made before the work was submitted")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "it is behind the work, but nobody could tell")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "it is behind the work")
    @Outcome(expect = Expect.FORBIDDEN, desc = "handed out while the device uses it")
    @State
    public static class CloseAndMark {

        private final Progress progress = new Progress();

        /** Plain: nothing else orders it. */
        private boolean submitted;

        private long number;
        private boolean marked;

        @Actor
        public void freeing() {
            submitted = true;
            number = progress.close();
        }

        @Actor
        public void marking() {
            final long mark = progress.begin();
            marked = submitted;
            progress.finish(mark);
        }

        @Arbiter
        public void after(final ZZ_Result result) {
            result.r1 = progress.finished() >= number;
            result.r2 = marked;
        }
    }

    /** Who finds the number finished finds what the device wrote before: here, that the mark was made. */
    @JCStressTest
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "not finished, for all that is known")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "about to be told")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "finished, and seen to be")
    @Outcome(expect = Expect.FORBIDDEN, desc = "told before it was so")
    @State
    public static class FinishAndRead {

        private final Progress progress = new Progress();
        private boolean ended;

        @Actor
        public void asking() {
            ended = true;
            progress.finish(1);
        }

        @Actor
        public void releasing(final ZZ_Result result) {
            result.r1 = progress.finished() >= 1;
            result.r2 = ended;
        }
    }
}
