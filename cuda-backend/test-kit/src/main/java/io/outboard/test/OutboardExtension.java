package io.outboard.test;

import io.outboard.pool.ReusePolicy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * This extension for JUnit 5 gives each test a {@link SimulatedGpu} of its own, as a parameter of the test and of its
 * {@code @BeforeEach} and {@code @AfterEach} methods, and checks it after them: a leak, an access out of bounds, or
 * memory that is used too late fails the test. Of a test that has failed already, leaks aren't reported. {@link
 * GpuOptions} chooses the device's memory and the pool's reuse policy.
 *
 * <p>A test of a fault takes it away by {@link SimulatedGpu#takeFaults}.
 *
 * <p>Thread-safety: safe for any number of threads; tests may run at the same time.
 */
public final class OutboardExtension implements ParameterResolver, AfterEachCallback {

    private static final Namespace NAMESPACE = Namespace.create(OutboardExtension.class);

    /** Makes the extension, as JUnit does. */
    public OutboardExtension() {}

    @Override
    public boolean supportsParameter(final ParameterContext parameter, final ExtensionContext context) {
        return parameter.getParameter().getType() == SimulatedGpu.class;
    }

    @Override
    public Object resolveParameter(final ParameterContext parameter, final ExtensionContext context) {
        if (context.getTestMethod().isEmpty()) {
            throw new ParameterResolutionException(
                    "parameter=" + parameter.getParameter()
                            + " must be one of a test, or of a method before or after each test: a GPU lives as long as a test");
        }
        return store(context).getOrComputeIfAbsent(SimulatedGpu.class, key -> open(context), SimulatedGpu.class);
    }

    private static SimulatedGpu open(final ExtensionContext context) {
        final GpuOptions options = options(context);
        return options == null ? open(1L << 30, ReusePolicy.STRICT) : open(options.memoryBytes(), options.reuse());
    }

    private static SimulatedGpu open(final long memoryBytes, final ReusePolicy reuse) {
        return SimulatedGpu.open(memoryBytes, builder -> builder.reuse(reuse));
    }

    private static @Nullable GpuOptions options(final ExtensionContext context) {
        GpuOptions options = context.getRequiredTestMethod().getAnnotation(GpuOptions.class);
        Class<?> type = context.getRequiredTestClass();
        while (options == null && type != null) {
            options = type.getAnnotation(GpuOptions.class);
            type = type.getEnclosingClass();
        }
        return options;
    }

    @Override
    public void afterEach(final ExtensionContext context) {
        final SimulatedGpu gpu = store(context).remove(SimulatedGpu.class, SimulatedGpu.class);
        if (gpu == null) {
            return;
        }
        try (gpu) {
            if (context.getExecutionException().isPresent()) {
                gpu.checkFaults();
            } else {
                gpu.check();
            }
        }
    }

    private static Store store(final ExtensionContext context) {
        return context.getStore(NAMESPACE);
    }
}
