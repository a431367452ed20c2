/**
 * This module has pools of device memory for many threads. The strategy that they use by default is a provider's, of
 * {@code io.outboard.tlsf}.
 */
@SuppressWarnings("module")
module io.outboard.pool {
    requires transitive io.outboard.core;
    requires java.management;
    requires jdk.jfr;
    requires org.agrona;
    requires static org.jspecify;

    exports io.outboard.pool;
    // The module of the test kit isn't known here: it needs this one.
    exports io.outboard.pool.simulated to
            io.outboard.test;
}
