package io.outboard.cuda.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The class changes the classes that other agents made the virtual machine load before. Each class goes through the
 * other agents' transformers again, which may fail, or add what mustn't be added any more. A group of classes that
 * fails is divided until such a class is alone, and left out. Confined to one thread.
 */
final class LoadedClasses {

    private final RedirectingTransformer transformer;
    private final Instrumentation instrumentation;

    /** The name of each class that was left out, and the cause. */
    private final List<String> leftOut = new ArrayList<>();

    LoadedClasses(final RedirectingTransformer transformer, final Instrumentation instrumentation) {
        this.transformer = transformer;
        this.instrumentation = instrumentation;
    }

    /**
     * Changes classes whose loader sees what is redirected, and answers a line on those that were left out, or none.
     */
    List<String> redirect() {
        final IdentityHashMap<ClassLoader, Boolean> concerned = new IdentityHashMap<>();
        final Class<?>[] loaded = Arrays.stream(instrumentation.getAllLoadedClasses())
                .filter(type -> type.getClassLoader() != null && instrumentation.isModifiableClass(type))
                .filter(type -> !RedirectingTransformer.isLeftAlone(type.getName()))
                .filter(type -> concerned.computeIfAbsent(type.getClassLoader(), transformer::concerns))
                .toArray(Class<?>[]::new);
        redirect(Arrays.asList(loaded));
        return leftOut.isEmpty()
                ? List.of()
                : List.of("classes=" + leftOut.size() + " of those loaded before the agent can't be changed, so their"
                        + " calls of CUDA, if they have any, stay as they are; the first: " + leftOut.get(0));
    }

    private void redirect(final List<Class<?>> classes) {
        if (classes.isEmpty()) {
            return;
        }
        try {
            instrumentation.retransformClasses(classes.toArray(Class<?>[]::new));
        } catch (final Throwable e) {
            // None of these classes was changed. The program must start, whatever was thrown.
            final int half = classes.size() / 2;
            if (half == 0) {
                leaveOut(classes.get(0).getName(), e);
                return;
            }
            redirect(classes.subList(0, half));
            redirect(classes.subList(half, classes.size()));
        }
    }

    private void leaveOut(final String className, final Throwable cause) {
        transformer.forget(className);
        leftOut.add(className + ": " + cause);
    }
}
