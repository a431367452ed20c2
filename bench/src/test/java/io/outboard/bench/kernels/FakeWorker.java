package io.outboard.bench.kernels;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/** Stands in for {@link KernelWorker}: how a case ends is said by the bytes of its requests. */
final class FakeWorker {

    static final long HANGS = 1;
    static final long DIES = 2;
    static final long CRASHES = 3;

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
            answer(KernelCase.parse(line));
        }
    }

    private static void answer(final KernelCase work) {
        if (work.leastBytes() == HANGS) {
            waitForEver();
        } else if (work.leastBytes() == DIES) {
            System.err.println("something is broken");
            System.exit(1);
        } else if (work.leastBytes() == CRASHES) {
            System.out.println(KernelWorker.failed(work, "crash", "cuLaunchKernel failed"));
            // As with a broken context, nothing works any more.
            waitForEver();
        } else {
            System.out.println(work.json()
                    .put("status", "ok")
                    .put("runs", ProcessHandle.current().pid()));
        }
    }

    private static void waitForEver() {
        while (true) {
            LockSupport.park();
        }
    }
}
