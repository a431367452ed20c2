/** This module has a simulated GPU for tests of programs that allocate from a pool, and an extension for JUnit. */
module io.outboard.test {
    requires transitive io.outboard.core;
    requires transitive io.outboard.pool;
    requires static transitive org.junit.jupiter.api;
    requires static org.jspecify;

    exports io.outboard.test;
}
