/** This package has tests as users write them, some of which fail, and programs that they test. */
@NullMarked
package examples;

import org.jspecify.annotations.NullMarked;
