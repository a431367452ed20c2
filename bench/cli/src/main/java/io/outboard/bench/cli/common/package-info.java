/**
 * This package holds what every command and every measurement needs: options for output, errors of use, tables,
 * latencies, facts about the machine, and the class loader that isolates measured strategies from each other.
 */
@NullMarked
package io.outboard.bench.cli.common;

import org.jspecify.annotations.NullMarked;
