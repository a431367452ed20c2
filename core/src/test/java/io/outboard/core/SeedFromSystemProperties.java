package io.outboard.core;

import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/**
 * Lets {@code -Doutboard.seed} replace a property's seed, which is another in each run, and {@link Effort} its tries.
 */
public final class SeedFromSystemProperties implements AroundPropertyHook {

    /** Made by jqwik. */
    public SeedFromSystemProperties() {}

    @Override
    public PropertyExecutionResult aroundProperty(
            final PropertyLifecycleContext context, final PropertyExecutor property) {
        final String seed = System.getProperty("outboard.seed");
        if (seed != null) {
            context.attributes().setSeed(seed);
        }
        context.attributes().tries().ifPresent(tries -> context.attributes().setTries(Effort.tries(tries)));
        return property.execute();
    }
}
