package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.cuda.CudaDevice;
import org.jspecify.annotations.Nullable;

/**
 * A run says where a paper's results go and on which device they are measured.
 *
 * @param output writes into the run's folder, which exists
 * @param device the user's choice: {@code auto}, {@code none} or a number
 * @param gpu the GPU, null without one
 * @param whole whether to measure what takes more than a few minutes, too
 */
public record PaperRun(
        OutputOptions output, String device, @Nullable CudaDevice gpu, boolean whole) {}
