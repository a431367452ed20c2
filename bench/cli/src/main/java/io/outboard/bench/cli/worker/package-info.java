/** This package runs processes that answer lines of text with lines of JSON, and that can be ended when they hang. */
@NullMarked
package io.outboard.bench.cli.worker;

import org.jspecify.annotations.NullMarked;
