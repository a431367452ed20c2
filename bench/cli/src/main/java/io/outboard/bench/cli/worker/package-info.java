/** Processes that answer lines of text by lines of JSON, and can be ended when they hang. */
@NullMarked
package io.outboard.bench.cli.worker;

import org.jspecify.annotations.NullMarked;
