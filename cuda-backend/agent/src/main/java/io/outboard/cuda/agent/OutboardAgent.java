package io.outboard.cuda.agent;

import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardRuntime;
import io.outboard.cuda.internal.foreign.Bindings;
import io.outboard.cuda.internal.foreign.Downcalls;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of {@code -javaagent:outboard-agent.jar} redirects a program's calls of {@code jcuda.runtime.JCuda}
 * and {@code jcuda.driver.JCudaDriver} to {@link OutboardRuntime} and {@link OutboardDriver}, without a change of the
 * program; on JDK 22 and newer it also replaces functions of other bindings' classes: JavaCPP's
 * {@code org.bytedeco.cuda.global.cudart}, LWJGL's {@code org.lwjgl.cuda.CU} and {@code CUGL}, TornadoVM's for its CUDA
 * backend, and those that the user names; and, if wanted, any of CUDA's functions that the program calls by {@code
 * java.lang.foreign}.
 *
 * <pre>
 *   java -javaagent:outboard-agent.jar[=option,...] ...
 *
 *   NAME=VALUE   an option of {@link io.outboard.cuda.OutboardOptions#all}: sets the system property outboard.NAME
 *   redirect=CLASS   a class with static functions that have the names of CUDA's, and their parameters in the same
 *                order; several are separated by colons
 *   foreign      handles by which the program calls CUDA's functions through java.lang.foreign
 *   report       print at exit, to standard error, what was redirected and what the pools did
 * </pre>
 *
 * <p>A value with commas stands in quotation marks, such as {@code record="a,b.rec"}. A wrong option ends the Java
 * virtual machine before the program starts, with one line on standard error and exit code 2.
 *
 * <p>Algorithm: as each class is loaded, the agent replaces the owner of every static call, and of every method handle
 * among the class's constants (method references, lambdas), if the facade has a function of that name and descriptor.
 * Classes loaded before the agent are changed in place. Classes of JCuda's jar, by their packages, and in packages
 * whose names start with {@code io.outboard.} are left alone; those of samples, tools and libraries in other packages
 * {@code jcuda.}something are not. Calls by reflection, by method handles that are looked up, and by native code stay
 * with JCuda. The other bindings' classes are changed themselves ({@link Bindings}), so only native code's calls of
 * them stay. For {@code foreign}, calls of {@code Linker.downcallHandle} go to {@link Downcalls}, which looks at the
 * address of the function. Calls that aren't redirected must not free memory from the pool, reset devices or end
 * contexts. Memory from the pool can't be shared with another process, either:
 * {@link OutboardRuntime#cudaIpcGetMemHandle} says why.
 *
 * <p>The program's own JCuda is used. It has to be on the class path. Where a class sees another JCuda, for example
 * from inside a web archive or a jar of jars, its calls are left as they are, and one line on standard error says so:
 * the class then runs as it would without the agent.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a search for JCuda's name, and with {@code foreign} for the
 * linker's, in each class loaded; a function of another binding is linked at its first call. When memory runs out: as
 * the facades say.
 */
public final class OutboardAgent {

    /** This class calls the driver by {@code java.lang.foreign}, so for {@code foreign} its handles are enough. */
    private static final String TORNADO = "uk.ac.manchester.tornado.drivers.cuda.ffm.CUDADriverAPI";

    /** The classes of bindings that have a static function for each of CUDA's: JavaCPP's, LWJGL's, and TornadoVM's. */
    private static final Set<String> BINDINGS =
            Set.of("org.bytedeco.cuda.global.cudart", "org.lwjgl.cuda.CU", "org.lwjgl.cuda.CUGL", TORNADO);

    private static final int EXIT_WRONG_ARGUMENT = 2;

    private OutboardAgent() {}

    /**
     * The Java virtual machine calls this method before the program's {@code main}.
     *
     * @param arguments the options, or null if there are none
     * @param instrumentation changes classes
     */
    public static void premain(final @Nullable String arguments, final Instrumentation instrumentation) {
        try {
            final AgentOptions options = optionsOf(arguments);
            final List<Redirection> redirections = new ArrayList<>(redirections());
            if (options.foreign()) {
                redirections.add(ofLinker(options));
            }
            final RedirectingTransformer transformer = new RedirectingTransformer(redirections, OutboardAgent::print);
            instrumentation.addTransformer(transformer, true);
            final BindingTransformer bindings = bindings(options);
            for (final Class<?> loaded : instrumentation.getAllLoadedClasses()) {
                bindings.sayThatLoaded(loaded.getName());
            }
            instrumentation.addTransformer(bindings);
            instrumentation.setNativeMethodPrefix(bindings, Bindings.PREFIX);
            options.redirect().forEach(name -> check(name, bindings));
            if (options.report()) {
                Runtime.getRuntime()
                        .addShutdownHook(new Thread(() -> report(transformer, bindings), "outboard-report"));
            }
            new LoadedClasses(transformer, instrumentation).redirect().forEach(OutboardAgent::print);
        } catch (final Throwable e) {
            // An exception from here would end the virtual machine.
            print("the agent can't start, so the program runs without it, or with a part: " + e);
        }
    }

    private static AgentOptions optionsOf(final @Nullable String arguments) {
        try {
            final AgentOptions options = AgentOptions.parse(arguments);
            options.apply();
            return options;
        } catch (final IllegalArgumentException e) {
            throw refused(String.valueOf(e.getMessage()));
        }
    }

    /** Ends the virtual machine, since an option is wrong. */
    private static IllegalArgumentException refused(final String message) {
        print(message);
        System.exit(EXIT_WRONG_ARGUMENT);
        return new IllegalArgumentException(message);
    }

    /** Checks a binding that the program named; the class is loaded, but not initialised. */
    private static void check(final String name, final BindingTransformer bindings) {
        if (Bindings.functions().isEmpty()) {
            throw refused("redirect=" + name + " must be left out on a JDK older than 22");
        }
        final List<String> misfits;
        try {
            misfits = Bindings.misfits(Class.forName(name, false, ClassLoader.getSystemClassLoader()));
        } catch (final ReflectiveOperationException | LinkageError e) {
            throw refused("redirect=" + name + " must be a class on the class path: " + e);
        }
        if (!misfits.isEmpty()) {
            throw refused("redirect=" + name + " must have functions with the parameters of CUDA's, in the same order,"
                    + " and return an int; these aren't so: " + String.join(", ", misfits));
        }
        if (!bindings.functionsByClass().containsKey(name)) {
            throw refused("redirect=" + name + " must be a class that the agent can change, with a static function that"
                    + " has the name of one of CUDA's, such as cuMemAlloc");
        }
    }

    /** Returns the redirections of JCuda's classes. */
    static List<Redirection> redirections() {
        return List.of(
                Redirection.between("jcuda.runtime.JCuda", OutboardRuntime.class),
                Redirection.between("jcuda.driver.JCudaDriver", OutboardDriver.class));
    }

    private static Redirection ofLinker(final AgentOptions options) {
        if (!options.redirect().isEmpty()) {
            throw refused("foreign must be given without redirect, since a class's functions and handles behind them"
                    + " would both be redirected");
        }
        Downcalls.begin(OutboardAgent::print).ifPresent(reason -> {
            throw refused("foreign must be left out " + reason);
        });
        return Redirection.between("java.lang.foreign.Linker", Downcalls.class);
    }

    private static BindingTransformer bindings(final AgentOptions options) {
        final Set<String> all = new TreeSet<>(BINDINGS);
        all.addAll(options.redirect());
        if (options.foreign()) {
            all.remove(TORNADO);
        }
        return new BindingTransformer(all, Bindings.functions(), OutboardAgent::print);
    }

    private static void report(final RedirectingTransformer transformer, final BindingTransformer bindings) {
        AgentReport.lines(transformer, bindings).forEach(OutboardAgent::print);
    }

    private static void print(final String line) {
        System.err.println("outboard-agent: " + line);
    }
}
