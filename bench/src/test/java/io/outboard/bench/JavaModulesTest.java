package io.outboard.bench;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.core.MemorySource;
import io.outboard.core.Strategy;
import io.outboard.hal.HalStrategies;
import io.outboard.pool.Pool;
import io.outboard.test.SimulatedGpu;
import io.outboard.tlsf.TlsfStrategies;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.collections.LongHashSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the jars on a module path. The test is skipped where jars are still folders of classes, as before
 * {@code mvn package}.
 */
class JavaModulesTest {

    private static final List<Class<?>> ONE_OF_EACH = List.of(
            Strategy.class,
            HalStrategies.class,
            TlsfStrategies.class,
            Pool.class,
            SimulatedGpu.class,
            LongHashSet.class);

    private Path[] jars = {};

    @BeforeEach
    void findJars() throws URISyntaxException {
        jars = new Path[ONE_OF_EACH.size()];
        for (int i = 0; i < jars.length; i++) {
            jars[i] = Path.of(ONE_OF_EACH
                    .get(i)
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            assumeTrue(Files.isRegularFile(jars[i]), jars[i] + " must be a jar: mvnw verify makes it");
        }
    }

    @Test
    void shouldSayWhatTheyExport() {
        final Map<String, Set<String>> exports = ModuleFinder.of(jars).findAll().stream()
                .map(ModuleReference::descriptor)
                .filter(module -> module.name().startsWith("io.outboard.") && !module.isAutomatic())
                .collect(toMap(ModuleDescriptor::name, JavaModulesTest::exports));

        assertEquals(
                Map.of(
                        "io.outboard.core", Set.of("io.outboard.core", "io.outboard.core.spi"),
                        "io.outboard.hal", Set.of("io.outboard.hal"),
                        "io.outboard.tlsf", Set.of("io.outboard.tlsf"),
                        "io.outboard.pool", Set.of("io.outboard.pool"),
                        "io.outboard.test", Set.of("io.outboard.test")),
                exports);
    }

    @Test
    void shouldFindStrategiesAndServeAPool() throws Exception {
        final ClassLoader loader = loaderOf("io.outboard.pool");

        final Class<?> strategies = loader.loadClass("io.outboard.core.Strategies");
        final int found = ((List<?>) strategies.getMethod("all").invoke(null)).size();
        final Class<?> pools = loader.loadClass("io.outboard.pool.Pool");
        final Object source = loader.loadClass("io.outboard.core.VirtualMemorySource")
                .getConstructor()
                .newInstance();
        final Object builder = pools.getMethod("over", loader.loadClass(MemorySource.class.getName()))
                .invoke(null, source);
        // A pool with a name is an MBean, so java.management looks into the module, too.
        builder.getClass().getMethod("name", String.class).invoke(builder, "in-modules");
        final Object pool = builder.getClass().getMethod("build").invoke(builder);
        final Object address = pools.getMethod("allocate", long.class).invoke(pool, 4096L);
        pools.getMethod("free", long.class).invoke(pool, address);
        pools.getMethod("close").invoke(pool);

        assertTrue(pools.getModule().isNamed());
        assertEquals(io.outboard.core.Strategies.all().size(), found);
    }

    /** The test kit may use the pool's simulated device, and needs no JUnit but for its extension. */
    @Test
    void shouldOpenASimulatedGpu() throws Exception {
        final Class<?> gpus = loaderOf("io.outboard.test").loadClass(SimulatedGpu.class.getName());
        final Object gpu = gpus.getMethod("open", long.class).invoke(null, 1L << 20);
        gpus.getMethod("check").invoke(gpu);
        gpus.getMethod("close").invoke(gpu);

        assertTrue(gpus.getModule().isNamed());
    }

    private static Set<String> exports(final ModuleDescriptor module) {
        return module.exports().stream()
                .filter(exported -> !exported.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(toSet());
    }

    /** Returns a class loader that doesn't see the class path. */
    private ClassLoader loaderOf(final String module) {
        final ModuleLayer boot = ModuleLayer.boot();
        final Configuration configuration =
                boot.configuration().resolveAndBind(ModuleFinder.of(jars), ModuleFinder.of(), Set.of(module));
        return boot.defineModulesWithOneLoader(configuration, ClassLoader.getPlatformClassLoader())
                .findLoader(module);
    }
}
