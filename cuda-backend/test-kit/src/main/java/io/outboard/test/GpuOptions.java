package io.outboard.test;

import io.outboard.pool.ReusePolicy;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This annotation says which {@link SimulatedGpu} a test gets of the {@link OutboardExtension}. That of a method comes
 * first, then that of its class, then that of the class around.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface GpuOptions {

    /** {@return how much memory it has, in bytes, {@code 0 < memoryBytes <= 2^62}} */
    long memoryBytes() default 1L << 30;

    /** {@return when its pool hands freed blocks out again} */
    ReusePolicy reuse() default ReusePolicy.STRICT;
}
