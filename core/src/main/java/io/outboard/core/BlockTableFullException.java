package io.outboard.core;

/**
 * This exception says that the host-side tables of a strategy hold as many blocks as they were made for. Device memory
 * may be left: make the strategy with a larger {@link StrategyOptions#maxBlocks}, or free blocks first. The call that
 * threw it changed nothing.
 */
public final class BlockTableFullException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception for a strategy whose tables are full.
     *
     * @param maxBlocks how many blocks they hold
     */
    public BlockTableFullException(final int maxBlocks) {
        super("maxBlocks=" + maxBlocks
                + " blocks are in the table, free ones included, and it holds no more: "
                + "raise StrategyOptions.maxBlocks");
    }
}
