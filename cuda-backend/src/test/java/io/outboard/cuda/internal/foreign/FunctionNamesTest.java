package io.outboard.cuda.internal.foreign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FunctionNamesTest {

    @ParameterizedTest
    @CsvSource({
        "cuMemFree, cuMemFree, false",
        "cuMemFree_v2, cuMemFree, false",
        "ncuCtxCreate_v4, cuCtxCreate, false",
        "cudaFreeAsync_ptsz, cudaFreeAsync, true",
        "cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture, true",
        "ncuMemFreeAsync_ptsz, cuMemFreeAsync, true",
        "cuMemFree_v2_x, cuMemFree_v2_x, false",
        "name, name, false",
    })
    void shouldFindWhatAllVersionsShare(final String name, final String base, final boolean ofThreads) {
        assertEquals(base, FunctionNames.baseOf(name));
        assertEquals(ofThreads, FunctionNames.isOfThreads(name));
    }
}
