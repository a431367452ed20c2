/**
 * This package brings Outboard to Apache Spark: executors that share a GPU lease its memory from the node's lender,
 * each has a pool over its leases, and memory that a task forgets is freed when the task ends.
 */
@NullMarked
package io.outboard.spark;

import org.jspecify.annotations.NullMarked;
