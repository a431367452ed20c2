package io.outboard.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.ByteSize;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExecutorOptionsTest {

    private static ExecutorOptions with(final String option, final String value) {
        final Map<String, String> values = new HashMap<>(Map.of(ExecutorOptions.SOCKET, "/run/gpu{gpu}"));
        values.put(option, value);
        return ExecutorOptions.ofMap(values);
    }

    @Test
    void shouldHaveDefaults() {
        final ExecutorOptions options = with(ExecutorOptions.SOCKET, "/run/lender");

        assertEquals("/run/lender", options.socket(3));
        assertEquals("spark", options.name());
        assertEquals(ByteSize.MOST_BYTES, options.limitBytes());
        assertEquals(Duration.ofSeconds(60), options.kept());
        assertNull(options.gpu());
    }

    @Test
    void shouldTravelFromTheDriver() {
        final SparkConf conf = new SparkConf(false)
                .set("spark.outboard.socket", "/run/gpu{gpu}")
                .set("spark.outboard.name", "batch")
                .set("spark.outboard.limit", "3g")
                .set("spark.outboard.keep", "2m")
                .set("spark.outboard.gpu", "1")
                .set("spark.app.name", "another");

        final ExecutorOptions options =
                ExecutorOptions.ofMap(ExecutorOptions.ofDriver(conf).toMap());

        assertEquals("/run/gpu1", options.socket(1));
        assertEquals("batch", options.name());
        assertEquals(3L << 30, options.limitBytes());
        assertEquals(Duration.ofMinutes(2), options.kept());
        assertEquals(1, options.gpu());
    }

    @ParameterizedTest
    @CsvSource({
        "spark.outboard.socket, lender, must be the absolute path",
        "spark.outboard.name, a b, must consist of letters",
        "spark.outboard.name, abcdefghijklmnopqrstuvwxyz01234567, at most 32",
        "spark.outboard.limit, much, must be a size",
        "spark.outboard.limit, 0, must be > 0",
        "spark.outboard.keep, 5, must be a time",
        "spark.outboard.keep, 25h, must be at most a day",
        "spark.outboard.gpu, a, must be the number of a GPU",
        "spark.outboard.limt, 1g, must be one of spark.outboard.socket"
    })
    void shouldRefuseWhatIsNone(final String option, final String value, final String rule) {
        final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> with(option, value));

        assertTrue(String.valueOf(refused.getMessage()).startsWith(option + "=" + value), refused::toString);
        assertTrue(String.valueOf(refused.getMessage()).contains(rule), refused::toString);
    }

    @Test
    void shouldWantASocket() {
        final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> ExecutorOptions.ofDriver(new SparkConf(false)));

        assertTrue(String.valueOf(refused.getMessage()).startsWith("spark.outboard.socket="), refused::toString);
    }
}
