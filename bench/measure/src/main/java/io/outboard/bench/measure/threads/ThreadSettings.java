package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.measurement.ThreadProfile;
import java.util.Locale;

/**
 * The settings say what threads do, and on what.
 *
 * @param profile what each does
 * @param kind whose memory it is
 * @param strategy name of the strategy in the pool
 * @param reusePolicy name of the {@link io.outboard.pool.ReusePolicy}
 * @param device number of the GPU, or {@link #NO_DEVICE} for addresses without memory behind them
 * @param regionBytes most that a pool may hold in bytes, and its first region; 0 for a pool's defaults
 * @param threads how many, pairs where the profile has pairs, {@code 0 < threads}
 * @param others threads that never stop beside them, {@code 0 <= others}
 * @param launchers threads that launch empty kernels without pause beside them, {@code 0 <= launchers}; 0 without a GPU
 * @param smallestBytes size of the smallest block in bytes, {@code 0 < smallestBytes}
 * @param largestBytes size of the largest block in bytes, {@code smallestBytes <= largestBytes}; the logarithm of sizes
 *     is uniform
 * @param liveBlocks about how many blocks a thread has at a time, {@code 0 < liveBlocks}
 * @param roundMillis how long a round takes, {@code 0 < roundMillis}
 */
public record ThreadSettings(
        ThreadProfile profile,
        Kind kind,
        String strategy,
        String reusePolicy,
        int device,
        long regionBytes,
        int threads,
        int others,
        int launchers,
        long smallestBytes,
        long largestBytes,
        int liveBlocks,
        long roundMillis) {

    /** The value of {@link #device} without a GPU. */
    public static final int NO_DEVICE = -1;

    /** The kinds of memory differ in what hands the memory out. */
    public enum Kind {
        /** A pool hands the memory out. */
        POOL,
        /** The facades hand the memory out, by {@code cudaMalloc} or, if stream-ordered, {@code cuMemAllocAsync}. */
        FACADE,
        /** The driver hands the memory out, by {@code cudaMalloc}. */
        CUDA_MALLOC,
        /** The driver hands the memory out, by {@code cuMemAllocAsync}. */
        CU_MEM_ALLOC_ASYNC,
        /** There is no memory, only numbers, which shows the time that the benchmark itself takes. */
        BARE;

        /** Returns whether the strategy and the policy matter. */
        boolean isOurs() {
            return this == POOL || this == FACADE;
        }

        String label() {
            return switch (this) {
                case CUDA_MALLOC -> "cudaMalloc";
                case CU_MEM_ALLOC_ASYNC -> "cuMemAllocAsync";
                default -> name().toLowerCase(Locale.ROOT);
            };
        }
    }

    /** Returns the same settings for another kind. */
    ThreadSettings of(final Kind newKind) {
        return new ThreadSettings(
                profile,
                newKind,
                strategy,
                reusePolicy,
                device,
                regionBytes,
                threads,
                others,
                launchers,
                smallestBytes,
                largestBytes,
                liveBlocks,
                roundMillis);
    }

    /** Returns the strategy, kind and policy, or the driver's function, as tables name them. */
    String label() {
        return kind.isOurs() ? strategy + " " + kind.label() + ", " + reusePolicy : kind.label();
    }

    /** Returns the device, as results name it. */
    String deviceText() {
        return device == NO_DEVICE ? "none" : String.valueOf(device);
    }
}
