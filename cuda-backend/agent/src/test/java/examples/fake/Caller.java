package examples.fake;

import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/** The class calls {@link Original} in every way into which a compiler translates a call. */
public final class Caller implements Supplier<Map<String, Integer>> {

    @Override
    public Map<String, Integer> get() {
        final LongUnaryOperator reference = Original::allocate;
        final LongUnaryOperator lambda = size -> Original.allocate(size);
        return Map.of(
                "call", Original.allocate(0L),
                "reference", (int) reference.applyAsLong(0),
                "lambda", (int) lambda.applyAsLong(0),
                "otherDescriptor", Original.allocate(0),
                "otherReturnType", Original.free(0),
                "notInFacade", Original.query());
    }
}
