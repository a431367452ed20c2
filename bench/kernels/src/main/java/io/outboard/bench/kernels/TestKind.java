package io.outboard.bench.kernels;

/** The generic tests of Vinkler and Havran (2014), section 6, and some of ours. */
public enum TestKind {
    /** Allocate in one kernel, free in the next. */
    AD("AD"),
    /** Both in one kernel, as the paper does. */
    ADF("AD fused"),
    /** Several allocations, then as many frees, in one kernel. */
    ACD("ACD"),
    /** In each of ten launches, with probability 0.75: allocate if the thread holds nothing, free if it does. */
    P("P"),
    /** {@link #AD} with sizes uniform in a range. */
    MIX("MIX"),
    /** Allocate until the first failure, repeat the request that failed, then free. */
    OOM("OOM"),
    /** Allocate round after round and free nothing: do the last rounds take longer than the first? */
    FILL("FILL"),
    /** For some seconds, mallocs and frees of all sizes at once, in a heap that is nearly full. */
    CHURN("CHURN"),
    /** Nothing is run: how many registers the kernels take. */
    REGISTERS("registers");

    private final String label;

    TestKind(final String label) {
        this.label = label;
    }

    /**
     * How tables name it.
     *
     * @return the paper's abbreviation
     */
    public String label() {
        return label;
    }
}
