package io.outboard.cuda.agent;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Type;

/**
 * A redirection is a rule by which calls of one class's static functions go to another class; and calls of its methods
 * go to static functions, whose first parameter is the object.
 *
 * @param source name of the class that is called
 * @param target name of the class that is called instead
 * @param home the target's class loader
 * @param functions name and descriptor, as a static function, of each function that both classes have; none where
 *     {@code home} doesn't see the source
 */
record Redirection(String source, String target, @Nullable ClassLoader home, Set<String> functions) {

    /** Finds the functions, without running an initialiser of either class. */
    static Redirection between(final String source, final Class<?> target) {
        final ClassLoader home = target.getClassLoader();
        Set<String> functions;
        try {
            functions = functionsOf(target);
            functions.retainAll(functionsOf(Class.forName(source, false, home)));
        } catch (final ClassNotFoundException | LinkageError e) {
            functions = Set.of();
        }
        return new Redirection(source, target.getName(), home, Set.copyOf(functions));
    }

    private static Set<String> functionsOf(final Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()))
                .map(Redirection::keyOf)
                .collect(Collectors.toSet());
    }

    private static String keyOf(final Method method) {
        final String descriptor = Type.getMethodDescriptor(method);
        return method.getName()
                + (Modifier.isStatic(method.getModifiers())
                        ? descriptor
                        : withObject(Type.getInternalName(method.getDeclaringClass()), descriptor));
    }

    /** Answers the descriptor of a static function that stands for a method. */
    static String withObject(final String owner, final String descriptor) {
        return "(L" + owner + ";" + descriptor.substring(1);
    }

    String sourceInternalName() {
        return source.replace('.', '/');
    }

    String targetInternalName() {
        return target.replace('.', '/');
    }

    /**
     * Answers whether a loader's classes mean the same two classes by these names; otherwise, a changed call would
     * fail.
     */
    boolean holdsIn(final ClassLoader loader) {
        return !functions.isEmpty() && isShared(source, loader) && isShared(target, loader);
    }

    private boolean isShared(final String name, final ClassLoader loader) {
        try {
            return Class.forName(name, false, loader) == Class.forName(name, false, home);
        } catch (final ClassNotFoundException | LinkageError | RuntimeException e) {
            // A loader of an application that was stopped, for example, throws the last of these exceptions.
            return false;
        }
    }
}
