package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.pool.DeviceWork;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** This class tests work in a context that can't be marked, with a driver before 12.5, or a JDK before 22. */
@Timeout(30)
class SynchronizerTest {

    private static final String THREAD = "outboard-synchronizer";
    private static final long CONTEXT = 0xC0_0000;

    private final Device device = new Device();
    private final StreamCaptures captures = new StreamCaptures();
    private final ContextWork work = new ContextWork(new CudaContext(device, CONTEXT, 0, captures));

    /** The device's work is a number of kernels, of which the default stream may say nothing. */
    private static final class Device extends QuietCuda {

        private final AtomicInteger synchronizations = new AtomicInteger();
        private int launched;
        private int finished;
        private boolean blocking = true;
        private int failure;
        private volatile String lastCaller = "";

        Device() {
            recordNoContexts();
        }

        @Override
        public boolean recordsContexts() {
            return false;
        }

        synchronized void launch(final boolean onBlockingStream) {
            launched++;
            blocking = onBlockingStream;
        }

        synchronized void finish() {
            finished = launched;
            notifyAll();
        }

        synchronized void finishOne() {
            finished++;
            notifyAll();
        }

        synchronized void fail(final int code) {
            failure = code;
        }

        @Override
        public synchronized int queryStream(final long stream) {
            return finished < launched && blocking ? cudaError.cudaErrorNotReady : SUCCESS;
        }

        @Override
        public synchronized int synchronize() {
            synchronizations.incrementAndGet();
            lastCaller = Thread.currentThread().getName();
            final int before = launched;
            while (finished < before) {
                try {
                    wait();
                } catch (final InterruptedException e) {
                    return cudaError.cudaErrorUnknown;
                }
            }
            return failure;
        }
    }

    @AfterEach
    void end() {
        device.finish();
        work.contextEnded(CONTEXT);
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(THREAD))
                .count();
    }

    @Test
    void shouldSynchroniseItselfOnAnIdleDevice() {
        final long mark = work.mark();

        assertAll(
                () -> assertTrue(work.isFinished(mark)),
                () -> assertEquals(1, device.synchronizations.get()),
                () -> assertEquals(Thread.currentThread().getName(), device.lastCaller));
    }

    @Test
    void shouldLetAThreadWaitForABusyDevice() {
        device.launch(true);
        final long mark = work.mark();
        assertFalse(work.isFinished(mark));
        assertFalse(work.isFinished(mark));

        device.finish();
        work.await(mark);

        assertTrue(work.isFinished(mark));
    }

    /** A synchronisation doesn't cover work that was submitted while it was waiting. */
    @Test
    void shouldNotCoverWhatCameAfterTheSynchronisationBegan() throws InterruptedException {
        device.launch(true);
        final long first = work.mark();
        while (device.synchronizations.get() == 0) {
            Thread.onSpinWait();
        }
        device.launch(true);
        final long second = work.mark();
        device.finishOne();

        work.await(first);

        assertFalse(work.isFinished(second));
        device.finish();
        work.await(second);
        assertTrue(work.isFinished(second));
    }

    /** The default stream says nothing of streams that don't block. */
    @Test
    void shouldNotBelieveTheDefaultStreamForSomeTimeAfterItWasWrong() throws InterruptedException {
        device.launch(false);
        final CountDownLatch marked = new CountDownLatch(1);
        final Thread misled = new Thread(() -> {
            work.mark();
            marked.countDown();
        });
        misled.start();
        while (device.synchronizations.get() == 0) {
            Thread.onSpinWait();
        }
        Thread.sleep(5);
        device.finish();
        marked.await();

        device.launch(false);
        final long mark = work.mark();
        final boolean finished = work.isFinished(mark);
        device.finish();
        work.await(mark);

        assertAll(() -> assertFalse(finished), () -> assertEquals(THREAD, device.lastCaller));
    }

    /** A wait of 4 seconds once took 1.5 seconds of core time. */
    @Test
    void shouldNotSpinWhileItWaits() throws InterruptedException {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        device.launch(true);
        work.mark();
        Thread.sleep(20);
        device.finish();
        Thread.sleep(20);
        final long id = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(THREAD))
                .mapToLong(Thread::getId)
                .max()
                .orElseThrow();
        final long before = threads.getThreadCpuTime(id);

        Thread.sleep(300);

        final long nanos = threads.getThreadCpuTime(id) - before;
        assertTrue(nanos < 30_000_000, "nanos=" + nanos);
    }

    @Test
    void shouldStartNoThreadBeforeItIsNeeded() {
        final long before = threads();

        work.release(work.mark());

        assertTrue(threads() <= before);
    }

    @Test
    void shouldEndItsThreadWithTheContext() throws InterruptedException {
        final long before = threads();
        device.launch(true);
        final long mark = work.mark();
        device.finish();
        work.await(mark);

        work.contextEnded(CONTEXT);

        for (int i = 0; i < 1000 && threads() > before; i++) {
            Thread.sleep(1);
        }
        assertAll(() -> assertTrue(threads() <= before), () -> assertTrue(work.isFinished(mark)));
    }

    @Test
    void shouldLetItsThreadRest() throws InterruptedException {
        device.launch(true);
        final long mark = work.mark();
        device.finish();
        work.await(mark);
        device.launch(true);
        final int[] meanwhile = new int[2];
        final long[] last = new long[1];

        work.whileThreadsRest(() -> {
            meanwhile[0] = device.synchronizations.get();
            last[0] = work.mark();
            sleep();
            meanwhile[1] = device.synchronizations.get();
        });

        device.finish();
        work.await(last[0]);
        assertEquals(meanwhile[0], meanwhile[1]);
    }

    private static void sleep() {
        try {
            Thread.sleep(20);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldDoNothingDuringACapture() {
        final long mark = work.mark();
        device.launch(true);
        final long open = work.mark();
        device.finish();
        work.await(open);
        assertTrue(captures.begin(5, CONTEXT));
        final int before = device.synchronizations.get();

        work.await(work.mark() == DeviceWork.NO_MARK ? mark : open);

        assertAll(
                () -> assertEquals(DeviceWork.NO_MARK, work.mark()),
                () -> assertEquals(before, device.synchronizations.get()));
        captures.ended(5);
        final long later = work.mark();
        work.await(later);
        assertTrue(work.isFinished(later));
    }

    @Test
    void shouldTellWhatFailedAndGoOn() {
        device.fail(cudaError.cudaErrorIllegalAddress);
        final long mark = work.mark();
        final CudaFailureException thrown = assertThrows(CudaFailureException.class, () -> work.isFinished(mark));
        assertEquals(cudaError.cudaErrorIllegalAddress, thrown.code());
        device.fail(0);

        final long later = work.mark();
        work.await(later);
        assertTrue(work.isFinished(later));
    }

    @Test
    void shouldMarkStreamsByEventsAllTheSame() {
        final long mark = work.mark(7);

        assertTrue(work.isFinished(mark));
        assertEquals(0, device.synchronizations.get());
    }
}
