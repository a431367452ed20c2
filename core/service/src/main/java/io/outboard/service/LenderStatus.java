package io.outboard.service;

import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.session.Wire;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * A lender's status is what its ledger says at one moment. Immutable.
 *
 * @param device the name of the device whose memory is lent, such as {@code memory}
 * @param limitBytes how much the lender lends in all, in bytes
 * @param lentBytes what clients hold, in bytes; what a client states to a new lender only as far as there is room
 * @param spareBytes what is made ahead of need, in bytes
 * @param clients the connected clients, in the order in which they connected
 */
public record LenderStatus(String device, long limitBytes, long lentBytes, long spareBytes, List<Client> clients) {

    /** The most clients that a lender can have at a time. */
    static final int MOST_CLIENTS = 16_384;

    /**
     * Copies the list of clients.
     *
     * @param device the name of the device whose memory is lent
     * @param limitBytes how much the lender lends in all, in bytes
     * @param lentBytes what clients hold, in bytes
     * @param spareBytes what is made ahead of need, in bytes
     * @param clients the connected clients
     */
    public LenderStatus {
        clients = List.copyOf(clients);
    }

    /**
     * Asks a lender for its status, without becoming a client.
     *
     * @param socket the lender's path
     * @return the answer
     * @throws IOException as {@link LenderConnection#connect} does
     */
    public static LenderStatus of(final Path socket) throws IOException {
        return of(socket, Wire.ANSWER_MILLIS);
    }

    /** Asks a lender as {@link #of(Path)} does, and waits {@code answerMillis} for each of its messages. */
    static LenderStatus of(final Path socket, final int answerMillis) throws IOException {
        final Wire wire = Wire.open(LinuxCalls.find(), SocketFile.checked(socket), answerMillis);
        try {
            wire.hello("top", true);
            wire.send(Message.of(MessageType.LIST, 1));
            final List<Client> clients = new ArrayList<>();
            Message message = wire.answer();
            while (message.type() != MessageType.LISTED) {
                final Message limits = message.type() == MessageType.CLIENT ? wire.answer() : message;
                if (limits.type() != MessageType.LIMITS || clients.size() == MOST_CLIENTS) {
                    throw new ProtocolException("a lender must list clients and their limits, at most " + MOST_CLIENTS
                            + ", and this one says " + limits);
                }
                clients.add(new Client(
                        (int) limits.c(),
                        message.text(),
                        message.a(),
                        message.b(),
                        message.c(),
                        limits.a(),
                        limits.b()));
                message = wire.answer();
            }
            return new LenderStatus(message.text(), message.a(), message.b(), message.c(), clients);
        } finally {
            wire.close();
        }
    }

    /** Returns the status of a lender in this process. */
    static LenderStatus of(
            final String device, final Ledger ledger, final Spares spares, final ToLongFunction<Account> waitingBytes) {
        final List<Client> clients = new ArrayList<>();
        for (final Account account : ledger.accounts()) {
            clients.add(new Client(
                    account.pid,
                    account.name,
                    account.leasedBytes,
                    account.usedBytes,
                    waitingBytes.applyAsLong(account),
                    ledger.guaranteedBytes(account.name),
                    ledger.mostBytes(account.name)));
        }
        return new LenderStatus(device, ledger.limitBytes(), ledger.lentBytes(), spares.bytes(), clients);
    }

    /** Returns the messages that carry this status. */
    List<Message> messages(final int request) {
        final List<Message> messages = new ArrayList<>();
        for (final Client client : clients) {
            messages.add(new Message(
                    MessageType.CLIENT,
                    request,
                    client.leasedBytes(),
                    client.usedBytes(),
                    client.waitingBytes(),
                    client.name()));
            messages.add(new Message(
                    MessageType.LIMITS, request, client.guaranteedBytes(), client.mostBytes(), client.pid(), ""));
        }
        messages.add(new Message(MessageType.LISTED, request, limitBytes, lentBytes, spareBytes, device));
        return messages;
    }

    /**
     * A client row is what the status says about one client.
     * @param pid its process
     * @param name its name, which selects its quota
     * @param leasedBytes what it holds, in bytes
     * @param usedBytes how much of that is in use, as the client told last, in bytes; -1 if it didn't tell
     * @param waitingBytes how much memory it waits for, in bytes
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
