package io.outboard.pool;

/** This class runs code close to the end of a thread's stack. */
final class StackEnd {

    /** A trial is code that runs close to the end of the stack. */
    interface Trial {
        void at(int framesLeft) throws Exception;
    }

    /**
     * The most frames of {@link #descend}: more than the tested code needs, even if each is as small as a compiled one.
     */
    private static final int MOST_FRAMES = 300;

    private StackEnd() {}

    /** Calls the trial for each number of frames that {@link #run} may leave, on a thread with little stack. */
    static void atEveryDepth(final Trial trial) throws InterruptedException {
        final Throwable[] thrown = new Throwable[1];
        final Thread thread = new Thread(
                null,
                () -> {
                    try {
                        for (int frames = MOST_FRAMES; frames >= 0; frames--) {
                            trial.at(frames);
                        }
                    } catch (final Throwable e) {
                        thrown[0] = e;
                    }
                },
                "deep",
                256 << 10);
        thread.setDaemon(true);
        thread.start();
        thread.join();
        if (thrown[0] != null) {
            throw new AssertionError("at some depth", thrown[0]);
        }
    }

    /**
     * Runs the operation with room for {@code framesLeft} frames. Returns false if the stack ended in the operation.
     */
    static boolean run(final int framesLeft, final Runnable operation) {
        final boolean[] done = new boolean[1];
        descend(framesLeft, operation, done);
        return done[0];
    }

    /**
     * Runs the operation where {@code framesLeft} frames are left, and returns the number of frames between this one
     * and the end.
     */
    @SuppressWarnings("InfiniteRecursion") // The stack ends.
    private static int descend(final int framesLeft, final Runnable operation, final boolean[] done) {
        int below;
        try {
            below = descend(framesLeft, operation, done) + 1;
        } catch (final StackOverflowError e) {
            below = 0;
        }
        if (below == framesLeft) {
            try {
                operation.run();
                done[0] = true;
            } catch (final StackOverflowError e) {
                // The caller sees that the operation isn't done.
            }
        }
        return below;
    }
}
