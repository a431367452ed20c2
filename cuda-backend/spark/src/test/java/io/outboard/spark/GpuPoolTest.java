package io.outboard.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.service.LenderStatus;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** This class tests the parts that need no GPU. */
class GpuPoolTest {

    @Test
    void shouldFindTheQuotaOfItsName() throws IOException {
        final LenderStatus.Client other = new LenderStatus.Client(1, "serving", 0, 0, 0, 1, 2);
        final LenderStatus.Client own = new LenderStatus.Client(2, "batch", 0, 0, 0, 3, 4);
        final LenderStatus status = new LenderStatus("cuda:0", 8, 0, 0, List.of(other, own));

        assertEquals(own, GpuPool.quotaOf(status, "batch"));
        assertThrows(IOException.class, () -> GpuPool.quotaOf(status, "spark"));
    }
}
