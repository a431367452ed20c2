package io.outboard.core;

import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/**
 * This hook lets {@code -Doutboard.seed} replace a property's seed, which is random otherwise, and {@link Effort} its
 * number of tries.
 */
public final class SeedFromSystemProperties implements AroundPropertyHook {

    /** Creates the hook; jqwik does so. */
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
