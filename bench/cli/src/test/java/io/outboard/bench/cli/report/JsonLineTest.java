package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class JsonLineTest {

    /** A quotient by 0 would make a line that no reader accepts. */
    @Test
    void shouldWriteNullForNumbersThatAreNotFinite() {
        final String line = new JsonLine()
                .put("nan", Double.NaN, 3)
                .put("more", 1.0 / 0, 3)
                .put("less", -1.0 / 0, 3)
                .put("half", 0.5, 3)
                .toString();

        assertEquals("{\"nan\":null,\"more\":null,\"less\":null,\"half\":0.500}", line);
    }
}
