package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashSet;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** These tests hold for any strategies; each other module tests that its own are found. */
class StrategiesTest {

    @Test
    void shouldSortByName() {
        final List<String> names = names();

        assertEquals(names.stream().sorted().toList(), names);
    }

    @Test
    void shouldHaveEachNameOnce() {
        assertEquals(new HashSet<>(names()).size(), names().size());
    }

    @Test
    void shouldFindEachByItsName() {
        for (final String name : names()) {
            assertEquals(name, Strategies.named(name).name());
        }
    }

    @Test
    void shouldListTheKnownNamesForAnUnknownOne() {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Strategies.named("nonesuch"));

        assertEquals("strategy=nonesuch must be one of: " + String.join(", ", names()), thrown.getMessage());
    }

    private static List<String> names() {
        return Strategies.all().stream().map(StrategyProvider::name).collect(Collectors.toList());
    }
}
