package io.outboard.bench.kernels;

/** The tests are the generic ones of Vinkler and Havran (2014), section 6, and some of ours. */
public enum TestKind {
    /** The threads allocate in one kernel, and free in the next. */
    AD("AD"),
    /** The threads allocate and free in one kernel, as in the paper. */
    ADF("AD fused"),
    /** Each thread allocates several times, then frees as often, in one kernel. */
    ACD("ACD"),
    /**
     * In each of ten launches, a thread acts with probability 0.75: it allocates if it holds nothing, and frees if it
     * does.
     */
    P("P"),
    /** The test is {@link #AD} with sizes that are uniform in a range. */
    MIX("MIX"),
    /** The threads allocate until the first failure, repeat the request that failed, then free. */
    OOM("OOM"),
    /** The threads allocate round after round and free nothing: do the last rounds take longer than the first? */
    FILL("FILL"),
    /** For some seconds, kernels allocate and free blocks of all sizes at once, in a heap that is nearly full. */
    CHURN("CHURN"),
    /** Nothing runs; the test reads how many registers the kernels take. */
    REGISTERS("registers");

    private final String label;

    TestKind(final String label) {
        this.label = label;
    }

    /**
     * Returns the name in tables.
     *
     * @return the paper's abbreviation
     */
    public String label() {
        return label;
    }
}
