package io.outboard.cuda.internal.memory;

import io.outboard.core.MemoryUser;
import io.outboard.service.Lease;
import io.outboard.service.LenderConnection;

/**
 * What memory is leased through, so that the logic above it runs over a simulated lender as well. Safe for any number of threads.
 */
public interface Leases extends AutoCloseable {

    String device();

    /** What leases are multiples of, a power of two. */
    long unitBytes();

    /** How much more may be leased by the quota, also where others have it now. */
    long quotaLeftBytes();

    /** Zero memory; {@code wantedBytes} are this one's and those of the leases that follow. If there is none, an exception says why. */
    Lease lease(long bytes, long wantedBytes);

    void closeDescriptor(Lease lease);

    /** Memory that isn't mapped here any more. */
    void giveBack(long... numbers);

    void addUser(MemoryUser user);

    void removeUser(MemoryUser user);

    @Override
    void close();

    /** Those of a lender; the connection goes with them. */
    static Leases of(final LenderConnection connection) {
        return new Leases() {
            @Override
            public String device() {
                return connection.device();
            }

            @Override
            public long unitBytes() {
                return connection.unitBytes();
            }

            @Override
            public long quotaLeftBytes() {
                return connection.quotaLeftBytes();
            }

            @Override
            public Lease lease(final long bytes, final long wantedBytes) {
                return connection.lease(bytes, wantedBytes);
            }

            @Override
            public void closeDescriptor(final Lease lease) {
                connection.closeDescriptor(lease);
            }

            @Override
            public void giveBack(final long... numbers) {
                connection.giveBack(numbers);
            }

            @Override
            public void addUser(final MemoryUser user) {
                connection.addUser(user);
            }

            @Override
            public void removeUser(final MemoryUser user) {
                connection.removeUser(user);
            }

            @Override
            public void close() {
                connection.close();
            }
        };
    }
}
