package io.outboard.pool.internal.guard;

import java.util.ArrayList;
import java.util.List;

/** Modules of the JDK that a runtime may lack, and that only those who look at pools need. {@code jlink} leaves out what no program's module requires. */
public final class JavaRuntime {

    public static final boolean HAS_FLIGHT_RECORDER;
    public static final boolean HAS_MANAGEMENT;

    static {
        final List<String> missing = new ArrayList<>();
        HAS_FLIGHT_RECORDER = has("jdk.jfr", missing);
        HAS_MANAGEMENT = has("java.management", missing);
        if (!missing.isEmpty()) {
            System.getLogger("io.outboard.core")
                    .log(
                            System.Logger.Level.WARNING,
                            "this Java runtime has no " + String.join(" and no ", missing)
                                    + ", so pools can't be seen there; they work");
        }
    }

    private JavaRuntime() {}

    private static boolean has(final String module, final List<String> missing) {
        final boolean has = ModuleLayer.boot().findModule(module).isPresent();
        if (!has) {
            missing.add(module);
        }
        return has;
    }
}
