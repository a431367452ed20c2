package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.driver.CudaUnavailableException;

/** Makes PTX of Outboard's own sources where the driver refuses that in the jar. Safe for any number of threads. */
public interface PtxCompiler {

    /**
     * Compiles a source.
     *
     * @param ptx the source and its options
     * @return its text
     * @throws CudaUnavailableException if there is no compiler, or it fails; the message says what to install
     */
    String compile(DevicePtx ptx);
}
