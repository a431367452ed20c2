package io.outboard.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.Lender;
import io.outboard.service.LenderStatus;
import io.outboard.service.LendingDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** This class tests two executors, each a process, on one device. */
@Timeout(180)
class SparkClusterTest {

    private static final int EXECUTORS = 2;
    private static final int CORES = 2;
    private static final int TASKS = EXECUTORS * CORES;
    private static final Path HOME = Path.of(System.getenv().getOrDefault("SPARK_HOME", "target/spark-home"));

    @TempDir
    Path folder;

    private static SparkConf conf(final Path socket) throws IOException {
        // A distribution has its jars in this folder; executors have this process's.
        Files.createDirectories(HOME.resolve("jars"));
        return new SparkConf(false)
                .setAppName("outboard")
                .setMaster("local-cluster[" + EXECUTORS + "," + CORES + ",1024]")
                .set("spark.plugins", OutboardPlugin.class.getName())
                .set("spark.outboard.socket", socket.toString())
                .set("spark.outboard.name", "batch")
                .set(
                        "spark.executor.extraClassPath",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")))
                .set("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
                .set("spark.executorEnv.JAVA_HOME", System.getProperty("java.home"))
                // No task starts before both executors are there.
                .set("spark.scheduler.minRegisteredResourcesRatio", "1.0")
                .set("spark.scheduler.maxRegisteredResourcesWaitingTime", "120s")
                .set("spark.locality.wait", "0s")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1");
    }

    @Test
    void shouldShareADevice() throws Exception {
        Leases.assume();
        final Set<String> before = outputs();
        try (Lender lender = Lender.of(LendingDevice.memory(128 * Leases.UNIT)).start(folder.resolve("lender"))) {
            final String meeting =
                    Files.createDirectory(folder.resolve("meeting")).toString();
            try (JavaSparkContext spark = new JavaSparkContext(conf(lender.socket()))) {
                final List<Integer> numbers =
                        IntStream.rangeClosed(1, TASKS).boxed().toList();

                final long leaked = spark.parallelize(numbers, TASKS)
                        .map(number -> Jobs.leak(number, meeting, TASKS))
                        .reduce(Long::sum);

                assertEquals(1 + 4 + 9 + 16, leaked);
                final Set<Integer> executors = pids(lender.status());
                assertEquals(EXECUTORS, executors.size(), lender.status()::toString);
                for (final LenderStatus.Client client : lender.status().clients()) {
                    assertEquals("batch", client.name());
                    // The client's tasks ran two at a time.
                    assertTrue(client.leasedBytes() >= (long) CORES * Jobs.BLOCKS * Jobs.BLOCK_BYTES, client::toString);
                }

                final List<Integer> more = IntStream.rangeClosed(1, 12).boxed().toList();
                final long survived = spark.parallelize(more, 12)
                        .map(number -> Jobs.die(number, 3))
                        .reduce(Long::sum);

                assertEquals(
                        more.stream()
                                .mapToLong(number -> (long) number * number)
                                .sum(),
                        survived);
                // The dead executor's leases are off the ledger; another executor has come in its place.
                Leases.until(() -> !pids(lender.status()).containsAll(executors), lender::status);
                Leases.until(() -> lender.status().clients().size() == EXECUTORS, lender::status);
                final Set<Integer> left = pids(lender.status());
                left.retainAll(executors);
                assertEquals(EXECUTORS - 1, left.size());
            }
            Leases.until(() -> lender.status().clients().isEmpty(), lender::status);
            assertEquals(0, lender.status().lentBytes());
        }
        final Set<String> output = outputs();
        output.removeAll(before);
        final List<String> warnings = output.stream()
                .flatMap(file -> lines(Path.of(file)))
                .filter(line -> line.contains("has ended without closing"))
                // Spark may write the same part of the file twice, when an executor is ended.
                .distinct()
                .toList();
        assertEquals(TASKS, warnings.size(), warnings::toString);
        assertTrue(
                warnings.stream()
                        .allMatch(line -> line.contains("3 buffers of 3MiB, taken at io.outboard.spark.Jobs.leak(")),
                warnings::toString);
    }

    private static Set<Integer> pids(final LenderStatus status) {
        return status.clients().stream().map(LenderStatus.Client::pid).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> outputs() throws IOException {
        if (!Files.isDirectory(HOME.resolve("work"))) {
            return new TreeSet<>(Collections.emptySet());
        }
        try (Stream<Path> files = Files.walk(HOME.resolve("work"))) {
            return files.filter(file -> file.endsWith("stderr"))
                    .map(Path::toString)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static Stream<String> lines(final Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (final IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
