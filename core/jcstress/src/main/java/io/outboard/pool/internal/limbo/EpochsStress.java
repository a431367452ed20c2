package io.outboard.pool.internal.limbo;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** One thread submits work and frees a block that it uses, another waits for the device. */
public final class EpochsStress {

    private EpochsStress() {}

    /** A block is free to be reused only if the wait was for its work, too. */
    @JCStressTest
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "the wait began before the work was submitted")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "it was for the work, but nobody could tell")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "it was for the work")
    @Outcome(expect = Expect.FORBIDDEN, desc = "handed out while the device uses it")
    @State
    public static class FreeAndWait {

        private final StreamEpochs epochs = new StreamEpochs();

        /** Plain: nothing else orders it. */
        private boolean submitted;

        private long noted;
        private boolean waitedFor;

        @Actor
        public void freeing() {
            submitted = true;
            noted = epochs.all.note();
        }

        @Actor
        public void waiting() {
            final long epoch = epochs.all.begin();
            waitedFor = submitted;
            epochs.all.pass(epoch);
        }

        @Arbiter
        public void after(final ZZ_Result result) {
            result.r1 = epochs.all.isOver(noted);
            result.r2 = waitedFor;
        }
    }

    /** Who waits for what is needed finds its blocks free then: else it would believe that there are none. */
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "covered")
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "the next epoch is needed")
    @Outcome(expect = Expect.FORBIDDEN, desc = "what is needed has passed, and the block isn't free")
    @State
    public static class NoteAndBegin {

        private final StreamEpochs epochs = new StreamEpochs();
        private long noted;
        private long needed;

        public NoteAndBegin() {
            // Something has been noted already.
            epochs.all.note();
        }

        @Actor
        public void freeing() {
            noted = epochs.all.note();
            needed = epochs.all.needed();
        }

        @Actor
        public void waiting() {
            epochs.all.pass(epochs.all.begin());
        }

        @Arbiter
        public void after(final ZZ_Result result) {
            result.r1 = epochs.all.isOver(noted);
            result.r2 = epochs.all.hasPassed(needed);
        }
    }
}
