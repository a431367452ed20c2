package io.outboard.core;

import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/** Lets {@code -Doutboard.seed} and {@code -Doutboard.tries} replace what a property's annotation says. */
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
        final Integer tries = Integer.getInteger("outboard.tries");
        if (tries != null) {
            context.attributes().setTries(tries);
        }
        return property.execute();
    }
}
