package io.outboard.cuda.kernels;

import java.util.Objects;

/**
 * This record says into which chunks an in-kernel heap is divided before kernels use it; kernels split and join chunks
 * further as they need (Vinkler and Havran 2014, section 5.2, and the end of section 8). Immutable, so safe for any
 * number of threads.
 *
 * @param kind the scheme
 * @param chunkBytes smallest chunk of a binary heap or size of uniform ones, in bytes, headers included; 0 for
 *     {@link Kind#NONE}
 * @param largeEndBytes size of a chunk kept whole at the end of the heap, in bytes; 0 for none
 */
public record PreSplit(Kind kind, long chunkBytes, long largeEndBytes) {

    private static final long UNIT_BYTES = 16;
    private static final long LEAST_CHUNK_BYTES = 2 * UNIT_BYTES;

    /** A kind says how a heap is divided. */
    public enum Kind {

        /** The heap is one chunk. */
        NONE,

        /**
         * Chunk i has {@code R / 2^floor(log2 i)} bytes (equation 1), so there are {@code 2^k} chunks of {@code R /
         * 2^k} bytes each, side by side, down to the smallest.
         */
        BINARY_HEAP,

        /** All chunks have one size. */
        UNIFORM
    }

    /**
     * Checks the sizes.
     *
     * @param kind the scheme
     * @param chunkBytes 0 for {@link Kind#NONE}, else a multiple of 16 from 32 to 64 GiB
     * @param largeEndBytes 0 or a multiple of 16 from 32 to 64 GiB
     * @throws IllegalArgumentException if a size is outside of its range
     */
    public PreSplit {
        Objects.requireNonNull(kind, "kind");
        if (kind != Kind.NONE || chunkBytes != 0) {
            check("chunkBytes", chunkBytes);
            if (kind == Kind.NONE) {
                throw new IllegalArgumentException("chunkBytes=" + chunkBytes + " must be 0 with kind=NONE");
            }
        }
        if (largeEndBytes != 0) {
            check("largeEndBytes", largeEndBytes);
        }
    }

    /**
     * Makes a binary heap, equation 1.
     *
     * @param smallestChunkBytes a multiple of 16 from 32 to 64 GiB
     * @return the scheme, without a large end
     * @throws IllegalArgumentException if {@code smallestChunkBytes} is outside of its range
     */
    public static PreSplit binaryHeap(final long smallestChunkBytes) {
        return new PreSplit(Kind.BINARY_HEAP, smallestChunkBytes, 0);
    }

    /**
     * Makes chunks of one size, with which the paper measured an external fragmentation close to 1.
     *
     * @param chunkBytes a multiple of 16 from 32 to 64 GiB
     * @return the scheme, without a large end
     * @throws IllegalArgumentException if {@code chunkBytes} is outside of its range
     */
    public static PreSplit uniform(final long chunkBytes) {
        return new PreSplit(Kind.UNIFORM, chunkBytes, 0);
    }

    /**
     * Makes one chunk. The first requests wait for each other, as each request splits the rest that the previous
     * request left.
     *
     * @return the scheme, without a large end
     */
    public static PreSplit none() {
        return new PreSplit(Kind.NONE, 0, 0);
    }

    /**
     * Makes the same scheme with a chunk that is kept whole at the end of the heap, for large requests.
     *
     * @param bytes 0 for none, or a multiple of 16 from 32 to 64 GiB
     * @return the scheme
     * @throws IllegalArgumentException if {@code bytes} is outside of its range
     */
    public PreSplit withLargeEnd(final long bytes) {
        return new PreSplit(kind, chunkBytes, bytes);
    }

    /** Answers the number by which the kernel that splits knows the scheme. */
    int scheme() {
        return switch (kind) {
            case NONE -> 0;
            case BINARY_HEAP -> 1;
            case UNIFORM -> 2;
        };
    }

    private static void check(final String name, final long bytes) {
        if (bytes < LEAST_CHUNK_BYTES || bytes > DeviceHeapBuilder.MOST_BYTES || bytes % UNIT_BYTES != 0) {
            throw new IllegalArgumentException(name + "=" + bytes + " must be a multiple of " + UNIT_BYTES + " from "
                    + LEAST_CHUNK_BYTES + " to " + DeviceHeapBuilder.MOST_BYTES);
        }
    }
}
