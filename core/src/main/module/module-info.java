/** This module has the contract of a strategy, regions and their sources, and what strategies are written with. */
module io.outboard.core {
    requires static org.jspecify;

    exports io.outboard.core;
    exports io.outboard.core.spi;

    uses io.outboard.core.StrategyModule;
}
