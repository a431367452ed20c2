package io.outboard.bench.cli.report.strategies;

import static org.junit.jupiter.api.Assertions.*;

import io.outboard.bench.cli.report.ResultFiles;
import io.outboard.bench.cli.report.ResultFolder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PercentileCurveTest {

    @TempDir
    private Path directory;

    @Test
    void shouldPutTheMaximumWhereOneOperationOfAllStands() throws IOException {
        final Histogram histogram = new Histogram(3);
        for (int i = 0; i < 1000; i++) {
            histogram.recordValue(20);
        }
        histogram.recordValue(5000);

        final double[] axis = curve(histogram).axis();

        assertEquals(0, axis[0]);
        assertTrue(axis[axis.length - 1] >= 3);
        for (int i = 1; i < axis.length; i++) {
            assertTrue(axis[i] >= axis[i - 1]);
        }
    }

    @Test
    void shouldDrawWhatTheClockCannotTellFromNothingAtOneNanosecond() throws IOException {
        final Histogram histogram = new Histogram(3);
        histogram.recordValue(0);
        histogram.recordValue(4);

        final PercentileCurve curve = curve(histogram);

        assertEquals(1, curve.drawnValuesNs()[0]);
    }

    @Test
    void shouldTakeAnEmptyHistogramForNone() throws IOException {
        assertTrue(curve(new Histogram(3)).isEmpty());
    }

    private PercentileCurve curve(final Histogram histogram) throws IOException {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        histogram.outputPercentileDistribution(new PrintStream(bytes, true, StandardCharsets.UTF_8), 1.0);
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"s\"}")
                .text("t-s-free.hgrm", bytes.toString(StandardCharsets.UTF_8));
        return PercentileCurve.read(ResultFolder.open(directory, StrategyParts.ALL), "t-s-free.hgrm");
    }
}
