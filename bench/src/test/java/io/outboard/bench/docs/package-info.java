/**
 * These tests compare what README and docs say with results, code and the command line: {@code docs/claims.txt} names
 * the source of each figure; links, commands, options and names are looked up; snippets are compiled, and run where
 * that needs no GPU.
 */
@NullMarked
package io.outboard.bench.docs;

import org.jspecify.annotations.NullMarked;
