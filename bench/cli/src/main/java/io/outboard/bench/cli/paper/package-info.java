/** Papers: each names its tables, figures and claims, measures what they need, and shows our values beside its own. */
@NullMarked
package io.outboard.bench.cli.paper;

import org.jspecify.annotations.NullMarked;
