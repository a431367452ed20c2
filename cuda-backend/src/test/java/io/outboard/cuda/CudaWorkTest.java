package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class CudaWorkTest {

    @Test
    void shouldNameADeviceThatCannotBe() {
        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, () -> CudaWork.open(-1));

        assertEquals("device=-1 must be >= 0", thrown.getMessage());
    }
}
