/**
 * This module has strategies with free lists over the block table: TLSF, segregated fit, buddies; and slabs of blocks
 * of one size.
 */
module io.outboard.tlsf {
    requires transitive io.outboard.core;
    requires static org.jspecify;

    exports io.outboard.tlsf;

    provides io.outboard.core.StrategyModule with
            io.outboard.tlsf.TlsfStrategies;
}
