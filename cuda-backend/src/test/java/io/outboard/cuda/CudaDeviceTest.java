package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CudaDeviceTest {

    @ParameterizedTest
    @CsvSource({"13000, 13.0", "12060, 12.6", "12080, 12.8", "11080, 11.8", "0, none"})
    void shouldWriteVersionsAsPeopleDo(final int version, final String text) {
        assertEquals(text, CudaDevice.versionText(version));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023 | 535.129.03",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  | 580.95.05",
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  575.51 Release | 575.51",
                "something else 1.2.3 | unknown"
            })
    void shouldFindTheKernelDriversVersion(final String file, final String version) {
        assertEquals(version, DeviceOpener.kernelDriver(file));
    }

    @ParameterizedTest
    @CsvSource("NVIDIA H200")
    void shouldDescribeItselfInOneLine(final String name) {
        assertEquals(
                "NVIDIA H200, driver 580.95.05 (CUDA 13.0), CUDA runtime 12.6",
                new CudaDevice(0, name, "580.95.05", 13000, 12060, 1L << 37).toString());
    }
}
