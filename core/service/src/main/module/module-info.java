/**
 * This module lends device memory of one process to others, in leases that each client divides by a pool of its own.
 */
module io.outboard.service {
    requires transitive io.outboard.core;
    requires java.management;
    requires jdk.jfr;
    requires static org.jspecify;

    exports io.outboard.service;
}
