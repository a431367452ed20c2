/** This module has strategies over the hybrid array list, and the bitmask. */
module io.outboard.hal {
    requires transitive io.outboard.core;
    requires static org.jspecify;

    exports io.outboard.hal;

    provides io.outboard.core.StrategyModule with
            io.outboard.hal.HalStrategies;
}
