package io.outboard.bench.cli.device;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.CudaUnavailableException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceProbeTest {

    @Test
    void shouldFindNothingWhenNoneIsAskedFor() {
        try (DeviceProbe probe = DeviceProbe.open("none")) {
            assertTrue(probe.source().isEmpty());
            assertEquals("device=none was asked for", probe.reason());
        }
    }

    @Test
    void shouldFindADeviceOrSayWhyNot() {
        try (DeviceProbe probe = DeviceProbe.open("auto")) {
            assertEquals(probe.source().isEmpty(), !probe.reason().isEmpty());
            assertTrue(probe.reason().lines().count() <= 1, probe.reason());
        }
    }

    @Test
    void shouldFailWhenTheDeviceAskedForIsNotThere() {
        try (DeviceProbe probe = DeviceProbe.open("auto")) {
            Assumptions.assumeTrue(probe.source().isEmpty(), "skipped, there is a GPU");
            final CudaUnavailableException thrown =
                    assertThrows(CudaUnavailableException.class, () -> DeviceProbe.open("0"));

            assertEquals(probe.reason(), thrown.getMessage());
        }
    }

    @Test
    @Tag("gpu")
    void shouldFindDeviceZeroByNumber() {
        try (DeviceProbe probe = DeviceProbe.open("auto")) {
            Assumptions.assumeTrue(probe.source().isPresent(), () -> "skipped, needs a GPU: " + probe.reason());
        }
        try (DeviceProbe probe = DeviceProbe.open("0")) {
            assertAll(
                    () -> assertEquals(0, probe.source().orElseThrow().device().ordinal()),
                    () -> assertEquals("", probe.reason()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "gpu", "AUTO", "1.5", "99999999999", " 0"})
    void shouldRefuseOtherChoices(final String choice) {
        final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> DeviceProbe.checkChoice(choice));

        assertEquals("device=" + choice + " must be auto, none or a number >= 0", refused.getMessage());
    }

    @Test
    void shouldRefuseUnknownBaselines() {
        final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> DriverAllocators.open("malloc", 0, 1));

        assertAll(
                () -> assertEquals("name=malloc must be one of cudaMalloc, cuMemAllocAsync", refused.getMessage()),
                () -> assertThrows(IllegalArgumentException.class, () -> DriverAllocators.open("cudaMalloc", 0, 0)),
                () -> assertThrows(IllegalArgumentException.class, () -> DriverAllocators.open("cudaMalloc", -1, 1)),
                () -> assertFalse(DriverAllocators.names().isEmpty()));
    }
}
