package io.outboard.bench.kernels.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.cuda.kernels.MakeOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreTest {

    @ParameterizedTest
    @CsvSource({"near, NEAR_FIRST", "active, ACTIVE_FIRST", "paper, PAPER"})
    void shouldKnowAnOrderByItsName(final String name, final MakeOrder order) {
        assertEquals(order, Store.ordered(name).order());
    }
}
