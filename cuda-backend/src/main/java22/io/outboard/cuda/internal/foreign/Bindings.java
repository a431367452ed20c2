package io.outboard.cuda.internal.foreign;

import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.internal.facade.Binding;
import io.outboard.cuda.internal.facade.Binding.Place;
import io.outboard.cuda.internal.facade.ContextPools;
import io.outboard.cuda.internal.facade.Facade;
import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * This class replaces functions of a binding's own class by a facade, whatever the binding is: its functions have the
 * names and the parameters of CUDA's, and are known by them ({@link CudaFunction}). The agent renames each such function,
 * and adds one with the old name, whose body {@link #link} links to the facade. So all callers are served: other
 * libraries, reflection, and threads that free what was forgotten. Functions of JCuda are redirected in another way,
 * since programs call the facades for JCuda, too.
 *
 * <p>An allocation or a free makes no garbage once it is compiled. Safe for any number of threads.
 */
public final class Bindings {

    /** What the agent puts before the old name of a function. */
    public static final String PREFIX = "outboard$";

    private static final String LWJGL = "org.lwjgl.cuda.CU";

    /**
     * The facades are made when a binding's function is first called: their classes ask for loggers, which a program sets
     * up first.
     */
    private static final class Facades {

        private static final ContextPools POOLS = ContextPools.ofProcess(OutboardOptions::ofProperties);
        private static final Binding CODES = new Binding() {};
        static final Facade RUNTIME = Facade.ofRuntime(POOLS, CODES);
        static final Facade DRIVER = Facade.ofDriver(POOLS, CODES);

        private Facades() {}
    }

    private Bindings() {}

    /** {@return the names of CUDA's functions that a facade stands for, without versions} */
    public static Set<String> functions() {
        return CudaFunction.names();
    }

    /** {@return whether native memory may be written, where bindings have places for results} */
    public static boolean mayWrite() {
        try {
            NativeMemory.initialize();
            return true;
        } catch (final LinkageError | IllegalCallerException e) {
            return false;
        }
    }

    /**
     * Answers which functions are left to a binding, since they haven't the parameters of CUDA's.
     *
     * @param binding a class whose functions have been renamed
     * @return name and parameters of each
     * @throws ReflectiveOperationException if a class of the binding isn't as expected
     */
    public static List<String> misfits(final Class<?> binding) throws ReflectiveOperationException {
        final List<String> misfits = new ArrayList<>();
        for (final Method method : binding.getDeclaredMethods()) {
            final MethodType type = MethodType.methodType(method.getReturnType(), method.getParameterTypes());
            final String name = method.getName();
            if (name.startsWith(PREFIX)
                    && adapter(name.substring(PREFIX.length()), type).isEmpty()) {
                misfits.add(name.substring(PREFIX.length()) + type);
            }
        }
        Collections.sort(misfits);
        return misfits;
    }

    /**
     * Links the body of a function that stands for a binding's own. Where the function hasn't the parameters that CUDA's
     * has, it is left to the binding.
     *
     * @param lookup of the binding's class
     * @param name of the function
     * @param type of the function
     * @return what to call
     * @throws ReflectiveOperationException if the binding's own function isn't there
     */
    public static CallSite link(final Lookup lookup, final String name, final MethodType type)
            throws ReflectiveOperationException {
        final MethodHandle original = lookup.findStatic(lookup.lookupClass(), PREFIX + name, type);
        return new ConstantCallSite(adapter(nameInLibrary(lookup, name), type)
                .map(adapter -> adapter.apply(original).asType(type))
                .orElse(original));
    }

    /** Answers which function of CUDA's library a binding calls. LWJGL chooses by its configuration. */
    private static String nameInLibrary(final Lookup lookup, final String name) throws ReflectiveOperationException {
        if (!lookup.lookupClass().getName().equals(LWJGL)) {
            return name;
        }
        final Class<?> configuration = lookup.findClass("org.lwjgl.system.Configuration");
        final Object ofThreads =
                configuration.getField("CUDA_API_PER_THREAD_DEFAULT_STREAM").get(null);
        return Boolean.TRUE.equals(configuration.getMethod("get").invoke(ofThreads))
                ? name + FunctionNames.OF_THREADS
                : name;
    }

    /** Answers what adapts a binding's function to its facade; nothing if no facade stands for it. */
    static Optional<UnaryOperator<MethodHandle>> adapter(final String name, final MethodType type)
            throws ReflectiveOperationException {
        final CudaFunction function = CudaFunction.named(name);
        if (function == null || type.returnType() != int.class) {
            return Optional.empty();
        }
        final boolean isOpen = function.parameters().endsWith("*");
        final String kinds = isOpen
                ? function.parameters().substring(0, function.parameters().length() - 1)
                : function.parameters();
        if (isOpen ? type.parameterCount() < kinds.length() : type.parameterCount() != kinds.length()) {
            return Optional.empty();
        }
        final List<Place<Object>> places = placesOf(kinds, type, FunctionNames.isOfThreads(name));
        return places.size() < kinds.length()
                ? Optional.empty()
                : Optional.of(original -> function.adapt(
                        function.ofRuntime() ? () -> Facades.RUNTIME : () -> Facades.DRIVER, places, original));
    }

    /** Answers how parameters are read and written, up to the first whose type has no place. */
    private static List<Place<Object>> placesOf(final String kinds, final MethodType type, final boolean ofThreads)
            throws ReflectiveOperationException {
        final List<Place<Object>> places = new ArrayList<>();
        for (int i = 0; i < kinds.length(); i++) {
            final Place<Object> place = Places.of(kinds.charAt(i), type.parameterType(i));
            if (place == null) {
                break;
            }
            places.add(kinds.charAt(i) == 's' && ofThreads ? new Places.StreamOfThread(place) : place);
        }
        return List.copyOf(places);
    }
}
