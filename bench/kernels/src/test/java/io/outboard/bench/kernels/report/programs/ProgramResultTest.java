package io.outboard.bench.kernels.report.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgramResultTest {

    @ParameterizedTest
    @ValueSource(strings = {"mismatches", "miscounted", "misaligned", "faults", "misuses", "leaked"})
    void shouldFailWhereACheckDid(final String check) {
        final ProgramResult one = result("ok", "\"refused\":0,\"" + check + "\":1");

        assertTrue(one.hasFailed());
        assertEquals("1 " + check, one.failure());
        assertTrue(result("refused", "\"" + check + "\":1").hasFailed(), "beside what is refused, too");
        assertFalse(result("ok", "\"" + check + "\":0").hasFailed());
        assertFalse(result("ok", "\"" + check + "\":null").hasFailed(), "where it can't be told");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hang", "crash"})
    void shouldFailWhereAProcessDied(final String status) {
        final ProgramResult died = result(status, "\"message\":\"why\"");

        assertTrue(died.hasFailed());
        assertEquals(status + ": why", died.failure());
    }

    @Test
    void shouldTakeAHeapThatIsNotEnoughForAResult() {
        final ProgramResult refused = result("refused", "\"message\":\"why\",\"refused\":7,\"leaked\":0");

        assertFalse(refused.hasFailed());
        assertTrue(refused.isRefused());
        assertEquals("refused: why, 7 refused", refused.failure());
        assertFalse(result("ok", "\"refused\":7").hasFailed());
        assertTrue(result("ok", "\"refused\":7").isRefused());
        assertFalse(result("ok", "\"refused\":0").isRefused());
    }

    private static ProgramResult result(final String status, final String more) {
        return ProgramResult.parse(
                "programs.jsonl",
                1,
                "{\"program\":\"wator\",\"store\":\"BitMalloc\",\"size\":\"8x8\",\"mode\":\"TIME\",\"status\":\""
                        + status + "\"," + more + "}");
    }
}
