package io.outboard.service;

import java.util.List;

/**
 * A {@link Lender} as JMX clients see it, under {@code io.outboard:type=Lender,socket="..."}, the socket's path quoted
 * as {@link javax.management.ObjectName#quote} does. It is registered with the platform's MBean server while the lender
 * runs.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: each attribute but the counts waits for the lender's thread,
 * which waits for nobody. Names begin with {@code get} since JMX makes attributes of such methods only.
 */
public interface LenderMXBean {

    /**
     * See {@link LenderStatus#device}.
     *
     * @return its name
     */
    String getDevice();

    /**
     * See {@link LenderStatus#limitBytes}.
     *
     * @return bytes
     */
    long getLimitBytes();

    /**
     * See {@link LenderStatus#lentBytes}.
     *
     * @return bytes
     */
    long getLentBytes();

    /**
     * See {@link LenderStatus#spareBytes}.
     *
     * @return bytes
     */
    long getSpareBytes();

    /**
     * How many clients are connected; who only looks isn't one.
     *
     * @return how many
     */
    int getClients();

    /**
     * How many of them wait for a lease.
     *
     * @return how many
     */
    int getWaitingClients();

    /**
     * What they wait for.
     *
     * @return bytes
     */
    long getWaitingBytes();

    /**
     * How many leases were sent since the lender has been started.
     *
     * @return how many
     */
    long getLeases();

    /**
     * How many leases were refused since the lender has been started.
     *
     * @return how many
     */
    long getRefusals();

    /**
     * One row for each client, in the order in which they came.
     *
     * @return a copy
     */
    List<LenderStatus.Client> getClientRows();
}
