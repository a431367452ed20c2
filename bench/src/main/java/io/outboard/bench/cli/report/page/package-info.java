/** The report's page: sections on traces, threads and what is compared, one after another, in one file. */
@NullMarked
package io.outboard.bench.cli.report.page;

import org.jspecify.annotations.NullMarked;
