package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * The class makes the streams of a device: one for each thread where blocks stay with their threads, otherwise a single
 * one for all, since blocks go from thread to thread. All streams are made beforehand, since making a stream beside
 * threads that launch would take seconds.
 */
final class ThreadStreams implements AutoCloseable {

    private final CUstream[] streams;
    private final AtomicInteger given = new AtomicInteger();

    ThreadStreams(final ThreadSettings settings) {
        streams = new CUstream[count(settings)];
        Arrays.setAll(streams, i -> new CUstream());
        for (final CUstream stream : streams) {
            check(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        }
    }

    /** Returns the number of streams. */
    static int count(final ThreadSettings settings) {
        return settings.profile() == ThreadProfile.OWN ? settings.threads() + settings.others() : 1;
    }

    /** Returns the stream for one more thread. */
    CUstream next() {
        return streams[given.getAndIncrement() % streams.length];
    }

    @Override
    public void close() {
        for (final CUstream stream : streams) {
            JCudaDriver.cuStreamSynchronize(stream);
            JCudaDriver.cuStreamDestroy(stream);
        }
    }

    private static void check(final int code, final String call) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException(call + " failed: " + CUresult.stringFor(code));
        }
    }
}
