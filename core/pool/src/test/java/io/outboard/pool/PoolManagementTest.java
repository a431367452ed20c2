package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JMX client sees a pool like this. */
class PoolManagementTest {

    private static final long MIB = 1L << 20;

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    private static PoolBuilder builder() {
        return Pool.over(new VirtualMemorySource())
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB);
    }

    private static ObjectName nameOf(final String pool) throws Exception {
        return new ObjectName("io.outboard:type=Pool,name=" + pool);
    }

    @Test
    void shouldShowTheStatistics() throws Exception {
        try (Pool pool = builder().name("gpu0").build()) {
            final long address = pool.allocate(MIB);

            final Map<String, Object> shown = new TreeMap<>();
            final String[] attributes = Arrays.stream(
                            server.getMBeanInfo(nameOf("gpu0")).getAttributes())
                    .map(attribute -> attribute.getName())
                    .toArray(String[]::new);
            for (final Attribute attribute :
                    server.getAttributes(nameOf("gpu0"), attributes).asList()) {
                shown.put(attribute.getName(), attribute.getValue());
            }

            final Map<String, Object> expected = new TreeMap<>();
            for (final Method method : pool.statistics().getClass().getDeclaredMethods()) {
                if (!method.isSynthetic()
                        && method.getParameterCount() == 0
                        && !method.getName().matches("toString|hashCode|.jacocoInit")) {
                    expected.put(
                            method.getName().substring(0, 1).toUpperCase(java.util.Locale.ROOT)
                                    + method.getName().substring(1),
                            method.invoke(pool.statistics()));
                }
            }
            expected.put("Policy", "immediate");
            expected.put("Strategy", "tlsf");
            expected.put("LargestFreeBlockBytes", 3 * MIB);
            assertEquals(expected, shown);
            assertEquals(17, shown.size());
            assertEquals(-1L, shown.get("LimitBytes"), "no limit");
            pool.free(address);
        }
    }

    @Test
    void shouldTrimAndDump(@TempDir final Path folder) throws Exception {
        try (Pool pool = builder().name("gpu0").dumpFolder(folder).build()) {
            pool.free(pool.allocate(MIB));
            final Path path = folder.resolve("gpu0-1.dump_json");

            assertEquals(path.toString(), dump("gpu0-1.dump_json"));
            final Object held = server.invoke(nameOf("gpu0"), "trimTo", new Object[] {0L}, new String[] {"long"});

            assertEquals(0L, held);
            assertEquals(0, pool.statistics().heldBytes());
            assertTrue(Files.readString(path).contains("\"heldBytes\": 4194304"));
        }
    }

    private Object dump(final String fileName) throws Exception {
        return server.invoke(nameOf("gpu0"), "dump", new Object[] {fileName}, new String[] {"java.lang.String"});
    }

    /** Clients may be far away, and belong to anybody. */
    @Test
    void shouldRefuseToDumpWithoutAFolder(@TempDir final Path folder) throws Exception {
        try (Pool pool = builder().name("gpu0").build()) {
            final Path path = folder.resolve("dump.json");

            final RuntimeMBeanException thrown = assertThrows(RuntimeMBeanException.class, () -> dump(path.toString()));

            assertEquals(
                    "no folder for dumps is configured: set PoolBuilder.dumpFolder, or for agent and facades"
                            + " outboard.dumpFolder",
                    thrown.getTargetException().getMessage());
            assertFalse(Files.exists(path));
            pool.dump(path);
            assertTrue(Files.exists(path), "who has the pool may");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", ".", "..", "../x", "a/b", "/tmp/x", "a\\b", "C:x", ".hidden", "-x", "a b", "x\u0000", "\u00e9"
            })
    void shouldRefuseToDumpAnywhereElse(final String fileName, @TempDir final Path parent) throws Exception {
        final Path folder = Files.createDirectory(parent.resolve("dumps"));
        try (Pool pool = builder().name("gpu0").dumpFolder(folder).build()) {
            final RuntimeMBeanException thrown = assertThrows(RuntimeMBeanException.class, () -> dump(fileName));

            assertEquals(
                    "fileName=" + fileName
                            + " must be a name without a folder: letters, digits, . _ and -, and no . or - first",
                    thrown.getTargetException().getMessage());
            try (Stream<Path> all = Files.walk(parent)) {
                assertEquals(List.of(parent, folder), all.toList());
            }
            assertEquals(0, pool.statistics().regions());
        }
    }

    @Test
    void shouldCountFailuresAndLeaks() throws Exception {
        try (Pool pool = builder().limitBytes(4 * MIB).name("gpu0").build()) {
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(5 * MIB));
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(4 * MIB + 1));

            assertEquals(2L, server.getAttribute(nameOf("gpu0"), "Failures"));
            assertEquals(0L, server.getAttribute(nameOf("gpu0"), "Leaks"));
        }
    }

    /** The pool's device is gone, and another pool may have the same name. */
    @Test
    void shouldGoWhenThePoolsThreadsEnd() throws Exception {
        final Pool pool = builder().name("gpu0").build();

        pool.idle.sourceEnded();

        assertFalse(server.isRegistered(nameOf("gpu0")));
        try (Pool next = builder().name("gpu0").build()) {
            pool.close();
            assertTrue(server.isRegistered(nameOf("gpu0")), next::toString);
        }
    }

    @Test
    void shouldGoWhenThePoolIsClosed() throws Exception {
        final Pool pool = builder().name("gpu0").build();
        assertTrue(server.isRegistered(nameOf("gpu0")));

        pool.close();

        assertFalse(server.isRegistered(nameOf("gpu0")));
        builder().name("gpu0").build().close();
    }

    @Test
    void shouldGoThoughClosingFails() throws Exception {
        final FailingMemorySource source = new FailingMemorySource(1L << 40);
        final Pool pool = Pool.over(source).name("gpu0").build();
        pool.free(pool.allocate(MIB));
        source.failAt(1, () -> new IllegalStateException("device"));

        assertThrows(IllegalStateException.class, pool::close);

        assertFalse(server.isRegistered(nameOf("gpu0")));
    }

    @Test
    void shouldCloseThoughSomebodyUnregisteredIt() throws Exception {
        final Pool pool = builder().name("gpu0").build();
        server.unregisterMBean(nameOf("gpu0"));

        assertDoesNotThrow(pool::close);
    }

    @Test
    void shouldRefuseANameThatIsTaken() throws Exception {
        try (Pool first = builder().name("gpu0").build()) {
            final IllegalStateException thrown = assertThrows(
                    IllegalStateException.class, () -> builder().name("gpu0").build());

            assertEquals(
                    "name=gpu0 must not be that of another pool that is open: io.outboard:type=Pool,name=gpu0 is"
                            + " registered already",
                    thrown.getMessage());
            assertTrue(server.isRegistered(nameOf("gpu0")));
            assertEquals(0, first.statistics().regions());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a,b", "*", "a b", "a=b", "\u00e9", "a\n"})
    void shouldRefuseANameThatIsNone(final String name) {
        assertThrows(IllegalArgumentException.class, () -> builder().name(name));
    }
}
