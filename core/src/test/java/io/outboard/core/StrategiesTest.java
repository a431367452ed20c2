package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashSet;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** This module's tests have no {@code tlsf}, for which the second name stands. */
    @ParameterizedTest
    @ValueSource(strings = {"nonesuch", "tlsf-frugal"})
    void shouldListTheKnownNamesForAnUnknownOne(final String name) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Strategies.named(name));

        assertEquals("strategy=" + name + " must be one of: " + String.join(", ", names()), thrown.getMessage());
    }

    private static List<String> names() {
        return Strategies.all().stream().map(StrategyProvider::name).collect(Collectors.toList());
    }
}
