package io.outboard.cuda.agent;

import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardRuntime;
import io.outboard.cuda.internal.foreign.ForeignDriver;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of {@code -javaagent:outboard-agent.jar} redirects a program's calls of {@code jcuda.runtime.JCuda}
 * and {@code jcuda.driver.JCudaDriver} to {@link OutboardRuntime} and {@link OutboardDriver}, without a change of the
 * program; it also redirects the calls that TornadoVM's CUDA backend makes to the driver, by {@code java.lang.foreign},
 * to {@link ForeignDriver}.
 *
 * <pre>
 *   java -javaagent:outboard-agent.jar[=option,...] ...
 *
 *   NAME=VALUE   an option of {@link io.outboard.cuda.OutboardOptions#all}: sets the system property outboard.NAME
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
 * with JCuda. Such calls must not free memory from the pool, reset devices or end contexts. Memory from the pool can't
 * be shared with another process, either: {@link OutboardRuntime#cudaIpcGetMemHandle} says why.
 *
 * <p>The program's own JCuda is used. It has to be on the class path. Where a class sees another JCuda, for example
 * from inside a web archive or a jar of jars, its calls are left as they are, and one line on standard error says so:
 * the class then runs as it would without the agent.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a search for JCuda's name in each class loaded; nothing
 * later. When memory runs out: as the facades say.
 */
public final class OutboardAgent {

    /** The class by which TornadoVM's CUDA backend calls the driver: a static function for each of the driver's. */
    static final String TORNADO_VM = "uk.ac.manchester.tornado.drivers.cuda.ffm.CUDADriverAPI";

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
            final RedirectingTransformer transformer = new RedirectingTransformer(redirections(), OutboardAgent::print);
            instrumentation.addTransformer(transformer, true);
            if (options.report()) {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> report(transformer), "outboard-report"));
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
            print(String.valueOf(e.getMessage()));
            System.exit(EXIT_WRONG_ARGUMENT);
            throw e;
        }
    }

    /**
     * Returns the redirections. Before JDK 22 that of TornadoVM is left out, since nothing on the class path could
     * change its calls.
     */
    static List<Redirection> redirections() {
        final List<Redirection> redirections = new ArrayList<>(List.of(
                Redirection.between("jcuda.runtime.JCuda", OutboardRuntime.class),
                Redirection.between("jcuda.driver.JCudaDriver", OutboardDriver.class)));
        if (Runtime.version().feature() >= 22) {
            redirections.add(Redirection.between(TORNADO_VM, ForeignDriver.class));
        }
        return List.copyOf(redirections);
    }

    private static void report(final RedirectingTransformer transformer) {
        AgentReport.lines(transformer).forEach(OutboardAgent::print);
    }

    private static void print(final String line) {
        System.err.println("outboard-agent: " + line);
    }
}
