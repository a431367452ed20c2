package io.outboard.pool.internal.guard;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * This class has the logger of pools, and knows modules of the JDK that a runtime may lack: {@code jlink} leaves out
 * what no program's module requires.
 *
 * <p>The first pool initialises it, since the host may have no memory for a logger when something is to be said.
 */
public final class JavaRuntime {

    public static final System.Logger LOGGER = System.getLogger("io.outboard.pool");

    public static final boolean HAS_FLIGHT_RECORDER;
    public static final boolean HAS_MANAGEMENT;

    static {
        final String missing = Stream.of("jdk.jfr", "java.management")
                .filter(module -> ModuleLayer.boot().findModule(module).isEmpty())
                .collect(Collectors.joining(" and no "));
        HAS_FLIGHT_RECORDER = !missing.contains("jdk.jfr");
        HAS_MANAGEMENT = !missing.contains("java.management");
        if (!missing.isEmpty()) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "this Java runtime has no " + missing + ", so pools can't be seen there; they work");
        }
    }

    private JavaRuntime() {}
}
