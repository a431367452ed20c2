/**
 * The report page: reads the result files of a folder and writes one self-contained HTML page with every number in a
 * table and, for whoever has a browser with scripts, a chart above it. Tables are made here, charts by the page itself.
 */
@NullMarked
package io.outboard.bench.cli.report;

import org.jspecify.annotations.NullMarked;
