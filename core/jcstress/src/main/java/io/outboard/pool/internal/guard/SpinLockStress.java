package io.outboard.pool.internal.guard;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The lock that guards a pool: one thread inside at a time, and what it wrote there is seen by the next. */
public final class SpinLockStress {

    private SpinLockStress() {}

    /** Two threads add one to a plain counter: no addition is lost, and the second sees the first. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "the first thread came first")
    @Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "the second thread came first")
    @Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "both were inside, or one didn't see what the other wrote")
    @State
    public static class Exclusion {

        private final SpinLock lock = new SpinLock();
        private int counter;

        @Actor
        public void first(final II_Result result) {
            lock.lock();
            result.r1 = ++counter;
            lock.unlock();
        }

        @Actor
        public void second(final II_Result result) {
            lock.lock();
            result.r2 = ++counter;
            lock.unlock();
        }
    }

    /** A writer changes two plain fields inside; a reader inside sees both changes or none. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "the reader came first")
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the writer came first")
    @Outcome(id = "0, 1", expect = Expect.FORBIDDEN, desc = "only the second change is seen")
    @Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "only the first change is seen")
    @State
    public static class Visibility {

        private final SpinLock lock = new SpinLock();
        private int one;
        private int other;

        @Actor
        public void writer() {
            lock.lock();
            one = 1;
            other = 1;
            lock.unlock();
        }

        @Actor
        public void reader(final II_Result result) {
            lock.lock();
            result.r1 = one;
            result.r2 = other;
            lock.unlock();
        }
    }
}
