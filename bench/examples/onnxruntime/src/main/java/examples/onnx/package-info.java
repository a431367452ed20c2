/** Tensors of ONNX Runtime in a pool of Outboard's. */
@NullMarked
package examples.onnx;

import org.jspecify.annotations.NullMarked;
