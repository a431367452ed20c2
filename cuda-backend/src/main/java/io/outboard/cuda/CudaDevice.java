package io.outboard.cuda;

/**
 * This record has the facts about a CUDA device that a report needs. Immutable, so safe for any number of threads.
 *
 * @param ordinal number of the device among those that this process sees, 0 or more
 * @param name what the driver calls it, such as {@code NVIDIA H200}
 * @param driver version of the kernel driver, such as {@code 580.95.05}, or {@code unknown} where the system doesn't
 *     say
 * @param driverVersion newest CUDA version that the driver supports, {@code 1000 * major + 10 * minor}
 * @param runtimeVersion version of the CUDA runtime that JCuda brings, {@code 1000 * major + 10 * minor}; 0 without
 *     JCuda
 * @param totalBytes memory of the device in bytes
 */
public record CudaDevice(
        int ordinal, String name, String driver, int driverVersion, int runtimeVersion, long totalBytes) {

    /**
     * Formats a CUDA version as people write it.
     *
     * @param version {@code 1000 * major + 10 * minor}, or 0
     * @return for example {@code 12.6} for 12060, and {@code none} for 0
     */
    public static String versionText(final int version) {
        return version == 0 ? "none" : version / 1000 + "." + version % 1000 / 10;
    }

    /**
     * Returns the facts in one line, for reports and {@code gpu} in JSON.
     *
     * @return for example {@code NVIDIA H200, driver 580.95.05 (CUDA 13.0), CUDA runtime 12.6}
     */
    @Override
    public String toString() {
        return name + ", driver " + driver + " (CUDA " + versionText(driverVersion) + "), CUDA runtime "
                + versionText(runtimeVersion);
    }
}
