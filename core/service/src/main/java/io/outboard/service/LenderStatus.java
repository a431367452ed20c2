package io.outboard.service;

import java.util.List;

/**
 * What a lender's ledger says, at one moment. Immutable.
 *
 * @param device what memory it lends, such as {@code memory}
 * @param limitBytes how much it lends in all, in bytes
 * @param lentBytes what clients hold, in bytes; beyond the limit only if clients held more when the lender was started anew
 * @param spareBytes what is made ahead of need, in bytes
 * @param clients those that are connected, in the order in which they came
 */
public record LenderStatus(String device, long limitBytes, long lentBytes, long spareBytes, List<Client> clients) {

    /**
     * Copies the list.
     *
     * @param device what memory it lends
     * @param limitBytes how much it lends in all, in bytes
     * @param lentBytes what clients hold, in bytes
     * @param spareBytes what is made ahead of need, in bytes
     * @param clients those that are connected
     */
    public LenderStatus {
        clients = List.copyOf(clients);
    }

    /**
     * One client.
     *
     * @param pid its process
     * @param name by which it has its quota
     * @param leasedBytes what it holds, in bytes
     * @param usedBytes how much of that is in use as it told last, in bytes; -1 if it didn't tell
     * @param waitingBytes what it is waiting for, in bytes
     * @param guaranteedBytes what is guaranteed to its name, in bytes
     * @param mostBytes what its name may have at most, in bytes
     */
    public record Client(
            int pid,
            String name,
            long leasedBytes,
            long usedBytes,
            long waitingBytes,
            long guaranteedBytes,
            long mostBytes) {}
}
