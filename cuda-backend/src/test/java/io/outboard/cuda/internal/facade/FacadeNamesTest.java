package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.pool.Pool;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** This class tests the names of the facades' pools. */
class FacadeNamesTest {

    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private final FakeCuda cuda = new FakeCuda(2);
    private final FakeRuntime jcuda = new FakeRuntime(cuda);
    private final ContextPools pools = new ContextPools(
            "named", () -> cuda, Optional::empty, LeasedMemory::connect, OutboardOptions::ofProperties);
    private final RuntimeFacade runtime = jcuda.runtime(pools);
    private final DriverFacade driver = jcuda.driver(pools);

    private static Set<String> names() throws Exception {
        return SERVER.queryNames(new ObjectName("io.outboard:type=Pool,name=named*"), null).stream()
                .map(name -> name.getKeyProperty("name"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private CUcontext contextWithMemory(final int device) {
        final CUcontext context = new CUcontext();
        assertEquals(0, driver.cuCtxCreate(context, 0, DevicePointers.withHandle(new CUdevice(), device)));
        assertEquals(0, driver.cuMemAlloc(new CUdeviceptr(), 1));
        return context;
    }

    @AfterEach
    void end() {
        for (int device = 0; device < 2; device++) {
            runtime.cudaSetDevice(device);
            runtime.cudaDeviceReset();
        }
    }

    @Test
    void shouldNameEachPoolByItsDevice() throws Exception {
        pools.ofThread(true);
        runtime.cudaSetDevice(1);
        pools.ofThread(true);
        final CUcontext context = contextWithMemory(1);

        assertEquals(Set.of("named-device0", "named-device1", "named-device1-2"), names());
        final Pool pool = pools.poolOf(1).orElseThrow();
        final DeviceOutOfMemoryException full =
                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1L << 50));
        assertAll(
                () -> assertTrue(pool.toString().startsWith("pool named-device1 [strict, tlsf, "), pool::toString),
                () -> assertTrue(
                        String.valueOf(full.getMessage()).startsWith("pool named-device1 full: "), full::toString));

        assertEquals(0, driver.cuCtxDestroy(context));
        assertEquals(Set.of("named-device0", "named-device1"), names());
        runtime.cudaSetDevice(0);
        assertEquals(0, runtime.cudaDeviceReset());
        assertEquals(Set.of("named-device1"), names());
        pools.ofThread(true);
        assertEquals(Set.of("named-device0", "named-device1"), names());
    }

    @Test
    void shouldLeaveAProgramsOwnPoolItsName() throws Exception {
        try (Pool own =
                Pool.over(new VirtualMemorySource()).name("named-device0").build()) {
            pools.ofThread(true);

            assertEquals(Set.of("named-device0", "named-device0-2"), names(), own::toString);
        }
    }

    @Test
    void shouldDumpWhereOptionsSay(@TempDir final Path folder) throws Exception {
        pools.configure(OutboardOptions.defaults().withShare(0.5).withDumpFolder(folder));
        pools.ofThread(true);

        final Object path = SERVER.invoke(
                new ObjectName("io.outboard:type=Pool,name=named-device0"),
                "dump",
                new Object[] {"now.json"},
                new String[] {"java.lang.String"});

        assertEquals(folder.resolve("now.json").toString(), path);
        assertTrue(Files.readString(folder.resolve("now.json")).startsWith("{\"name\": \"named-device0\""));
    }

    @Test
    void shouldRecordWhereOptionsSay(@TempDir final Path folder) throws Exception {
        final Path file = folder.resolve("program.rec");
        pools.configure(OutboardOptions.defaults().withShare(0.5).withRecord(file));
        final Pool own =
                Pool.over(new VirtualMemorySource()).name("named-device0").build();
        pools.ofThread(true);
        own.close();

        assertTrue(Files.size(folder.resolve("program.rec.named-device0-2")) >= 32);
        assertFalse(Files.exists(file));
    }
}
