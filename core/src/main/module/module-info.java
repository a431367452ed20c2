/** The contract of a strategy, regions and where they come from; and what strategies are written with. */
module io.outboard.core {
    requires static org.jspecify;

    exports io.outboard.core;
    exports io.outboard.core.spi;

    uses io.outboard.core.StrategyModule;
}
