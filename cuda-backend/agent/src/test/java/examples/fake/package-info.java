/** This package has stand-ins for JCuda, and programs that use them where there is no GPU. */
@NullMarked
package examples.fake;

import org.jspecify.annotations.NullMarked;
