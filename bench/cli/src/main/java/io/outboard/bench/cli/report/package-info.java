/**
 * This package reads the result files of a folder and writes one self-contained HTML page. The page has every number in
 * a table and, in a browser with scripts, a chart above it. Tables are made here, charts by the page itself.
 */
@NullMarked
package io.outboard.bench.cli.report;

import org.jspecify.annotations.NullMarked;
