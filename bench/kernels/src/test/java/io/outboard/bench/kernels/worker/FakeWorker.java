package io.outboard.bench.kernels.worker;

import io.outboard.bench.cli.worker.WorkerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/** The worker stands in for a program that calls {@link CaseWorker#serve}; each case says how it ends. */
final class FakeWorker {

    static final String HANGS = "hangs";
    static final String SLOW = "slow";
    static final String DIES = "dies";
    static final String CRASHES = "crashes";

    private FakeWorker() {}

    public static void main(final String... arguments) throws IOException {
        if (arguments.length > 0) {
            System.err.println(arguments[0]);
            System.exit(1);
        }
        System.out.println("a line of some library");
        System.out.println(WorkerProcess.READY);
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            answer(new FakeCase(line));
        }
    }

    private static void answer(final FakeCase work) {
        if (work.ending().equals(SLOW)) {
            LockSupport.parkNanos(3_000_000_000L);
        }
        if (work.ending().equals(HANGS)) {
            waitForEver();
        } else if (work.ending().equals(DIES)) {
            System.err.println("something is broken");
            System.exit(1);
        } else if (work.ending().equals(CRASHES)) {
            System.out.println(work.failed("crash", "cuLaunchKernel failed"));
            // Nothing works any more, as with a broken context.
            waitForEver();
        } else {
            System.out.println(work.json()
                    .put("status", "ok")
                    .put("pid", ProcessHandle.current().pid()));
        }
    }

    private static void waitForEver() {
        while (true) {
            LockSupport.park();
        }
    }
}
