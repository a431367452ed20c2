/**
 * The facades over any pools and any CUDA, and the pools of the contexts. Nothing here is for applications, which call
 * {@code OutboardRuntime} and {@code OutboardDriver} in {@code io.outboard.cuda}; what is public is so for that package, and may
 * change without a word.
 */
@NullMarked
package io.outboard.cuda.internal.facade;

import org.jspecify.annotations.NullMarked;
