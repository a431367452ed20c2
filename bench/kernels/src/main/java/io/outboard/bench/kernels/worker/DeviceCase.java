package io.outboard.bench.kernels.worker;

import io.outboard.bench.cli.report.JsonLine;

/** One thing to do on a device, as it is told to a worker. */
public interface DeviceCase {

    /**
     * What the worker reads.
     *
     * @return one line
     */
    String line();

    /**
     * What was asked for, by the keys of a result.
     *
     * @return a new object
     */
    JsonLine json();

    /**
     * What the driver's own heap must have. It has one size as long as a process lives.
     *
     * @return bytes; 0 where it isn't used
     */
    long driverHeapBytes();

    /**
     * The kernels that it runs, as PTX.
     *
     * @return the name of a resource, with all folders
     */
    String resource();

    /**
     * For how long it runs by itself, however fast the device is.
     *
     * @return seconds
     */
    int seconds();

    /**
     * The result of a case that has none.
     *
     * @param status {@code hang} or {@code crash}
     * @param message why, in one line
     * @return a new object
     */
    default JsonLine failed(final String status, final String message) {
        return json().put("status", status).put("message", message.replaceAll("\\s+", " "));
    }
}
