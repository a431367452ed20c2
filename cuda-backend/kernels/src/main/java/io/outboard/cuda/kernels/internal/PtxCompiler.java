package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.driver.CudaUnavailableException;

/**
 * A compiler makes PTX of Outboard's own sources if the driver refuses the PTX in the jar. Safe for any number of
 * threads.
 */
public interface PtxCompiler {

    /**
     * Compiles a source.
     *
     * @param ptx the source and its options
     * @return the text of the PTX
     * @throws CudaUnavailableException if there is no compiler, or it fails; the message says what to install
     */
    String compile(DevicePtx ptx);
}
