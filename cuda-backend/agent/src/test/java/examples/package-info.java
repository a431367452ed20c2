/** These programs use bindings of CUDA and know nothing of Outboard; tests run them with the agent and without it. */
@NullMarked
package examples;

import org.jspecify.annotations.NullMarked;
