package io.outboard.bench.kernels.worker;

import io.outboard.bench.cli.report.JsonLine;

/** A case is one thing to do on a device, in the form that a worker reads. */
public interface DeviceCase {

    /**
     * Returns what the worker reads.
     *
     * @return one line
     */
    String line();

    /**
     * Returns what was asked for, by the keys of a result.
     *
     * @return a new object
     */
    JsonLine json();

    /**
     * Returns the size that the driver's own heap must have. The heap has one size as long as a process lives.
     *
     * @return bytes; 0 where it isn't used
     */
    long driverHeapBytes();

    /**
     * Returns where the kernels that the case runs are, as PTX.
     *
     * @return the name of a resource, with all folders
     */
    String resource();

    /**
     * Returns what the driver compiles for the case: cases with the same name share it.
     *
     * @return {@link #resource}, with what is linked to it
     */
    default String module() {
        return resource();
    }

    /**
     * Returns how long the case runs by design, however fast the device is.
     *
     * @return seconds
     */
    int seconds();

    /**
     * Returns the result of a case that didn't end by itself.
     *
     * @param status {@code hang} or {@code crash}
     * @param message why, in one line
     * @return a new object
     */
    default JsonLine failed(final String status, final String message) {
        return json().put("status", status).put("message", message.replaceAll("\\s+", " "));
    }
}
