/**
 * What every command and every measurement needs: options for output, errors of use, tables, latencies, facts about the
 * machine, and classes of their own for what is measured.
 */
@NullMarked
package io.outboard.bench.cli.common;

import org.jspecify.annotations.NullMarked;
