package io.outboard.service;

import java.util.List;

/**
 * A lender MXBean shows a {@link Lender} to JMX clients, as {@code io.outboard:type=Lender,socket="..."}, with the
 * socket's path quoted as {@link javax.management.ObjectName#quote} does. It is registered with the platform's MBean
 * server while the lender runs.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: each attribute but the counts waits for the lender's thread,
 * which never waits for a client or the device. Names begin with {@code get}, as JMX demands for attributes.
 */
public interface LenderMXBean {

    /**
     * Returns what {@link LenderStatus#device} says.
     *
     * @return the device's name
     */
    String getDevice();

    /**
     * Returns what {@link LenderStatus#limitBytes} says.
     *
     * @return bytes
     */
    long getLimitBytes();

    /**
     * Returns what {@link LenderStatus#lentBytes} says.
     *
     * @return bytes
     */
    long getLentBytes();

    /**
     * Returns what {@link LenderStatus#spareBytes} says.
     *
     * @return bytes
     */
    long getSpareBytes();

    /**
     * Returns how many clients are connected. Connections that only ask for the status don't count.
     *
     * @return how many
     */
    int getClients();

    /**
     * Returns how many clients wait for a lease.
     *
     * @return how many
     */
    int getWaitingClients();

    /**
     * Returns how much memory the waiting clients wait for.
     *
     * @return bytes
     */
    long getWaitingBytes();

    /**
     * Returns how many leases were sent since the lender was started.
     *
     * @return how many
     */
    long getLeases();

    /**
     * Returns how many leases were refused since the lender was started.
     *
     * @return how many
     */
    long getRefusals();

    /**
     * Returns a row for each client, in the order in which they connected.
     *
     * @return a copy
     */
    List<LenderStatus.Client> getClientRows();
}
