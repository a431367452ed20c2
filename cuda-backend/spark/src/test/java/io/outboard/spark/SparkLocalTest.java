package io.outboard.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.Lender;
import io.outboard.service.LendingDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** This class tests the plugin in one process that is driver and executor, with a real lender. */
@Timeout(180)
class SparkLocalTest {

    @TempDir
    Path folder;

    private SparkConf conf(final Path socket) {
        return new SparkConf(false)
                .setAppName("outboard")
                .setMaster("local[2]")
                .set("spark.plugins", OutboardPlugin.class.getName())
                .set("spark.outboard.socket", socket.toString())
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1");
    }

    @Test
    void shouldFreeWhatTasksForget() throws Exception {
        Leases.assume();
        try (Lender lender = Lender.of(LendingDevice.memory(64 * Leases.UNIT)).start(folder.resolve("lender"))) {
            final String meeting =
                    Files.createDirectory(folder.resolve("meeting")).toString();
            try (JavaSparkContext spark = new JavaSparkContext(conf(lender.socket()))) {
                final long sum = spark.parallelize(List.of(1, 2, 3, 4), 4)
                        .map(number -> Jobs.leak(number, meeting, 2))
                        .reduce(Long::sum);

                assertEquals(1 + 4 + 9 + 16, sum);
                assertEquals(0, OutboardSpark.pool().statistics().usedBytes());
                assertEquals("spark", lender.status().clients().get(0).name());
                assertTrue(lender.status().lentBytes() > 0, lender.status()::toString);
                assertThrows(IllegalStateException.class, () -> OutboardSpark.buffer(1));
                assertEquals(4L * Jobs.BLOCKS / 2, figure("task.forgottenBuffers"), "half of them are forgotten");
                assertTrue(figure("lease.leasedBytes") >= figure("pool.heldBytes"));
            }
            Leases.until(() -> lender.status().clients().isEmpty(), lender::status);
            assertEquals(0, lender.status().lentBytes());
            assertThrows(IllegalStateException.class, OutboardSpark::pool);
        }
    }

    private static long figure(final String name) {
        final String metric = "plugin." + OutboardPlugin.class.getName();
        return (Long) Objects.requireNonNull(SparkEnv.get()
                        .metricsSystem()
                        .getSourcesByName(metric)
                        .head()
                        .metricRegistry()
                        .getGauges()
                        .get(name))
                .getValue();
    }

    @Test
    void shouldNotStartWithoutALender() {
        Leases.assume();

        final Throwable refused =
                assertThrows(Throwable.class, () -> new JavaSparkContext(conf(folder.resolve("none"))).close());

        assertTrue(
                String.valueOf(refused.getMessage()).contains("./outboard serve --device 0 --socket "),
                refused::toString);
        assertThrows(IllegalStateException.class, OutboardSpark::pool);
    }

    @Test
    void shouldNotStartWithAWrongOption() {
        final Throwable refused = assertThrows(
                Throwable.class,
                () -> new JavaSparkContext(conf(folder.resolve("none")).set("spark.outboard.limt", "1g")).close());

        assertTrue(String.valueOf(refused.getMessage()).contains("spark.outboard.limt=1g"), refused::toString);
    }
}
