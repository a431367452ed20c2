/** Programs that use JCuda and know nothing of Outboard; they are run with the agent and without it. */
@NullMarked
package examples;

import org.jspecify.annotations.NullMarked;
