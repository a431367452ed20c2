package io.outboard.service;

import io.outboard.service.internal.events.LenderActivity;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;

/** A lender's management is its MXBean, its counts, and its JFR events. Safe for any number of threads. */
final class LenderManagement implements LenderMXBean {

    private final String socket;
    private final Supplier<LenderStatus> status;
    private final AtomicLong leases = new AtomicLong();
    private final AtomicLong refusals = new AtomicLong();

    /** Whether this bean has the name. */
    private volatile boolean isRegistered;

    LenderManagement(final Path socket, final Supplier<LenderStatus> status) {
        this.socket = socket.toString();
        this.status = status;
    }

    /** Counts an event, and passes it on to JFR. All events of the lender come here. */
    void took(final LenderEvent event) {
        if (event.kind() == LenderEvent.Kind.LEASED) {
            leases.incrementAndGet();
        } else if (event.kind() == LenderEvent.Kind.REFUSED) {
            refusals.incrementAndGet();
        }
        if (LenderActivity.isWanted()) {
            LenderActivity.commit(
                    socket,
                    event.kind().name().toLowerCase(Locale.ROOT),
                    event.client(),
                    event.pid(),
                    event.bytes(),
                    event.detail());
        }
    }

    /**
     * Registers the lender with JMX.
     *
     * @throws IllegalStateException if the name is taken. No other lender can have it, since it would have the socket
     */
    void register() {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(this, objectName());
            isRegistered = true;
        } catch (final InstanceAlreadyExistsException e) {
            throw new IllegalStateException(
                    "socket=" + socket + " must not be that of another lender: " + e.getMessage()
                            + " is registered already",
                    e);
        } catch (final JMException e) {
            throw new IllegalStateException("socket=" + socket + " can't be registered", e);
        }
    }

    /** Unregisters the lender, so that the next one at the socket's path finds the name free. */
    void unregister() {
        if (!isRegistered) {
            // Another bean may have the name.
            return;
        }
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(objectName());
        } catch (final InstanceNotFoundException e) {
            // Any code in this process may have unregistered the bean, which is gone, as it should be.
        } catch (final JMException e) {
            throw new IllegalStateException("socket=" + socket + " can't be unregistered", e);
        }
    }

    private ObjectName objectName() throws JMException {
        return new ObjectName("io.outboard:type=Lender,socket=" + ObjectName.quote(socket));
    }

    @Override
    public String getDevice() {
        return status.get().device();
    }

    @Override
    public long getLimitBytes() {
        return status.get().limitBytes();
    }

    @Override
    public long getLentBytes() {
        return status.get().lentBytes();
    }

    @Override
    public long getSpareBytes() {
        return status.get().spareBytes();
    }

    @Override
    public int getClients() {
        return status.get().clients().size();
    }

    @Override
    public int getWaitingClients() {
        return (int) status.get().clients().stream()
                .filter(client -> client.waitingBytes() > 0)
                .count();
    }

    @Override
    public long getWaitingBytes() {
        return status.get().clients().stream()
                .mapToLong(LenderStatus.Client::waitingBytes)
                .sum();
    }

    @Override
    public long getLeases() {
        return leases.get();
    }

    @Override
    public long getRefusals() {
        return refusals.get();
    }

    @Override
    public List<LenderStatus.Client> getClientRows() {
        return status.get().clients();
    }
}
