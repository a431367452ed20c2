/** The allocator service by the command line: a lender of a GPU's memory, and a look at one. */
@NullMarked
package io.outboard.bench.cli.service;

import org.jspecify.annotations.NullMarked;
