package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.Admission.LeaseRequest;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests are what clients ask the lender for in messages. This class keeps the {@link Ledger}, asks {@link
 * Admission}, has memory made and sends it. Confined to the lender's thread; memory is made in other threads, as that
 * takes time.
 *
 * <p>The ledger may have room for a lease before the device has, since memory that a dead client had mapped takes a
 * moment to come back. The lender then tries again until the request's deadline. No other client waits for that.
 */
final class Requests implements Admission.Outcome {

    /**
     * The pause between two attempts to make memory that isn't back yet. An attempt costs the device some microseconds;
     * memory was back 0.5 s after a client's death.
     */
    private static final long RETRY_NANOS = 5_000_000;

    /**
     * How long after its beginning a lender still counts what clients state. A client connects again within a second,
     * unless it was stopped.
     */
    private static final long BELIEVES_NANOS = 60_000_000_000L;

    /** The most requests of a client that may wait; more must be a mistake. */
    private static final int MOST_REQUESTS = 1024;

    private static final int MOST_HOLDERS = 8;
    private static final long MOST_DEADLINE_MILLIS = 600_000;
    private static final long MILLI_NANOS = 1_000_000;

    private final LendingDevice device;
    private final Ledger ledger;
    private final Admission admission;
    private final Spares spares;
    private final Shares shares;
    private final MemoryMakers makers;
    private final int user;
    private final LongSupplier clock;
    private final Consumer<LenderEvent> events;
    private final Map<Account, Peer> peers = new HashMap<>();

    /** The time until which clients of an earlier lender may state what they hold. Requests wait until then. */
    private final long settledNanos;

    /** The time from which leases of an earlier lender aren't counted any more. */
    private final long believesUntilNanos;

    private final Queue<LeaseRequest> early = new ArrayDeque<>();

    /** Takes off what clients held that are gone, and returns whether there were any. */
    private BooleanSupplier look = () -> false;

    Requests(
            final LenderBuilder builder,
            final Consumer<LenderEvent> events,
            final MemoryMakers makers,
            final int user,
            final long settleNanos,
            final LongSupplier clock) {
        device = builder.device;
        ledger = new Ledger(device.limitBytes(), builder.quotas);
        admission = new Admission(ledger, this);
        spares = new Spares(builder.spares, device.limitBytes());
        shares = new Shares(ledger);
        this.events = events;
        this.makers = makers;
        this.user = user;
        this.clock = clock;
        settledNanos = clock.getAsLong() + settleNanos;
        believesUntilNanos = settledNanos + BELIEVES_NANOS;
    }

    /** Sets what {@link #takeOffHungUp} does, which calls {@link #left}. */
    void lookBy(final BooleanSupplier newLook) {
        look = newLook;
    }

    long now() {
        return clock.getAsLong();
    }

    void tell(final LenderEvent.Kind kind, final @Nullable Account account, final long bytes, final String detail) {
        final String client = account == null ? "" : account.name;
        final int pid = account == null ? 0 : account.pid;
        events.accept(new LenderEvent(kind, client, pid, bytes, detail));
    }

    /** Returns when {@link #time} must be called, or {@code Long.MAX_VALUE}. */
    long nextNanos() {
        final long next = Math.min(admission.nextNanos(now()), spares.nextNanos());
        return early.isEmpty() ? next : Math.min(next, settledNanos);
    }

    void time() {
        final long now = now();
        spares.expire(now);
        // Those whose clients turn out to be gone meanwhile are dropped.
        while (!early.isEmpty() && now >= settledNanos) {
            admission.ask(early.remove(), now);
        }
        admission.serve(now);
    }

    void take(final Peer peer, final Message message) {
        final Account account = peer.account;
        if (message.type() == MessageType.HELLO) {
            hello(peer, message);
        } else if (message.type() == MessageType.LIST && peer.isKnown()) {
            peer.send(status().messages(message.request()));
        } else if (account == null) {
            peer.doom("it must say who it is, and said " + message.type());
        } else {
            take(peer, account, message);
        }
    }

    private void take(final Peer peer, final Account account, final Message message) {
        switch (message.type()) {
            case HELD -> held(peer, account, message);
            case LEASE, SHARE -> lease(peer, account, message);
            case OPEN -> {
                account.hasAsked = true;
                if (shares.open(peer, account, message)) {
                    tell(LenderEvent.Kind.OPENED, account, 0, "");
                }
            }
            case RETURN -> giveBack(peer, account, message);
            case USAGE -> account.usedBytes = Math.max(Account.UNKNOWN, message.a());
            case EASED -> {
                tell(LenderEvent.Kind.EASED, account, account.leasedBytes, "");
                admission.eased(account, now());
            }
            default -> peer.doom("a client doesn't say " + message.type());
        }
    }

    private void hello(final Peer peer, final Message message) {
        if (peer.isKnown()) {
            peer.doom("it said who it is twice");
        } else if (message.a() != Message.VERSION) {
            turnAway(peer, message, Refusal.VERSION, "version " + Message.VERSION);
        } else if (peer.who.uid() != user) {
            turnAway(peer, message, Refusal.PEER, "user " + peer.who.uid() + ", not " + user);
        } else if (!message.text().matches("[A-Za-z0-9._-]+")) {
            turnAway(peer, message, Refusal.WRONG, "name: letters, digits, . _ -");
        } else {
            welcome(peer, message);
        }
    }

    private void turnAway(final Peer peer, final Message message, final Refusal why, final String detail) {
        peer.send(new Message(MessageType.REFUSED, message.request(), why.code(), 0, 0, detail));
        tell(LenderEvent.Kind.TURNED_AWAY, null, 0, "pid " + peer.who.pid() + ": " + why.sentence() + ": " + detail);
        peer.standing = Peer.Standing.TURNED_AWAY;
        peer.doom("it was turned away");
    }

    private void welcome(final Peer peer, final Message message) {
        final String name = message.text();
        if (message.b() == Message.OBSERVER) {
            peer.standing = Peer.Standing.OBSERVER;
        } else {
            final Account account = ledger.open(name, peer.who.pid());
            peer.account = account;
            peer.standing = Peer.Standing.CLIENT;
            peers.put(account, peer);
            tell(LenderEvent.Kind.CONNECTED, account, 0, "");
        }
        peer.send(new Message(
                MessageType.WELCOME,
                message.request(),
                device.unitBytes(),
                ledger.guaranteedBytes(name),
                ledger.mostBytes(name),
                device.name()));
    }

    private void held(final Peer peer, final Account account, final Message message) {
        final long lease = message.a();
        final long bytes = message.b();
        if (bytes > ledger.roomBytes(account.name)) {
            takeOffHungUp();
            if (peer.doom() != null) {
                return;
            }
        }
        // Whoever states more than it could be lent must not keep the others from what is left.
        final boolean counts = now() < believesUntilNanos && bytes <= ledger.roomBytes(account.name);
        if (!isWhole(bytes)
                || !account.mayState(lease)
                || !shares.hold(account, lease, bytes, message.text(), counts)) {
            peer.doom("it holds lease " + lease + " of " + bytes + " bytes, which can't be");
        } else {
            tell(LenderEvent.Kind.HELD, account, bytes, counts ? "" : "not counted");
        }
    }

    private boolean isWhole(final long bytes) {
        return bytes > 0 && bytes % device.unitBytes() == 0;
    }

    private void lease(final Peer peer, final Account account, final Message message) {
        account.hasAsked = true;
        final long bytes = message.a();
        final boolean isShared = message.type() == MessageType.SHARE;
        final long wantedBytes = Math.max(bytes, Math.min(message.c(), ledger.limitBytes()));
        final long deadlineMillis = Math.min(message.b(), MOST_DEADLINE_MILLIS);
        final long deadline = now() + Math.max(0, deadlineMillis) * MILLI_NANOS;
        final LeaseRequest request = new LeaseRequest(
                account, message.request(), bytes, wantedBytes, deadline, deadlineMillis > 0, isShared);
        if (!isWhole(bytes)) {
            refuse(request, Refusal.WRONG, "bytes: a multiple of " + device.unitBytes());
        } else if (admission.requestsOf(account).size() + earlyOf(account).count() >= MOST_REQUESTS) {
            peer.doom("it waits for " + MOST_REQUESTS + " leases");
        } else {
            spares.asked(bytes, now());
            if (now() < settledNanos) {
                early.add(request);
            } else {
                admission.ask(request, now());
            }
        }
    }

    private void giveBack(final Peer peer, final Account account, final Message message) {
        final boolean isMade = !account.making.contains(message.a());
        final long bytes = isMade ? shares.giveBack(account, message.a()) : 0;
        if (bytes == 0) {
            peer.doom("it gave lease " + message.a() + " back, which it hasn't");
            return;
        }
        tell(LenderEvent.Kind.RETURNED, account, bytes, "");
        peer.send(Message.of(MessageType.RETURNED, message.request(), message.a()));
        admission.serve(now());
    }

    @Override
    public void make(final LeaseRequest request, final long lease) {
        // Whether one more shared lease is possible is only known when the lease's memory is made, outside of a
        // decision.
        final LendingDevice.Memory spare = request.isShared() ? null : spares.take(request.bytes());
        if (spare != null) {
            made(request, lease, spare);
        } else {
            if (ledger.lentBytes() + spares.bytes() > ledger.limitBytes()) {
                spares.drop();
            }
            create(request, lease, 0);
        }
    }

    private void create(final LeaseRequest request, final long lease, final long nanos) {
        makers.make(
                device,
                request.bytes(),
                nanos,
                memory -> made(request, lease, memory),
                failure -> failed(request, lease, failure));
    }

    private void made(final LeaseRequest request, final long lease, final LendingDevice.Memory memory) {
        if (request.isShared() && shares.isFull()) {
            takeOffHungUp();
        }
        final Peer peer = peers.get(request.account());
        if (peer == null) {
            memory.close();
            return;
        }
        request.account().making.remove(lease);
        if (request.isShared() && shares.isFull()) {
            memory.close();
            ledger.giveBack(request.account(), lease);
            refuse(request, Refusal.WRONG, "shared leases: " + Shares.MOST + " at most");
            admission.serve(now());
            return;
        }
        final Shares.Share share =
                request.isShared() ? shares.add(request.account(), lease, request.bytes(), memory) : null;
        tell(LenderEvent.Kind.LEASED, request.account(), request.bytes(), share == null ? "" : "shared");
        peer.send(
                new Message(
                        MessageType.LEASED,
                        request.number(),
                        lease,
                        request.bytes(),
                        0,
                        share == null ? "" : share.ticket()),
                share == null ? memory : share.forSending());
        makeSpare();
    }

    private void failed(final LeaseRequest request, final long lease, final Throwable failure) {
        if (!peers.containsKey(request.account())) {
            return;
        }
        final boolean isFull = failure instanceof DeviceOutOfMemoryException;
        if (isFull && spares.drop()) {
            create(request, lease, 0);
        } else if (isFull && now() + RETRY_NANOS < request.deadlineNanos()) {
            create(request, lease, RETRY_NANOS);
        } else {
            // The refusal names the holders.
            takeOffHungUp();
            request.account().making.remove(lease);
            ledger.giveBack(request.account(), lease);
            refuse(request, isFull ? Refusal.FULL : Refusal.FAILED, String.valueOf(failure.getMessage()));
            admission.serve(now());
        }
    }

    private void makeSpare() {
        final long bytes = spares.next(ledger.limitBytes() - ledger.lentBytes(), now());
        if (bytes > 0) {
            makers.make(
                    device,
                    bytes,
                    0,
                    memory -> {
                        spares.came(memory);
                        if (ledger.lentBytes() + spares.bytes() > ledger.limitBytes()) {
                            spares.drop();
                        }
                        makeSpare();
                    },
                    failure -> spares.came(null));
        }
    }

    @Override
    public boolean takeOffHungUp() {
        return look.getAsBoolean();
    }

    @Override
    public void press(final Account account, final long bytes) {
        tell(LenderEvent.Kind.PRESSED, account, bytes, "");
        Objects.requireNonNull(peers.get(account)).send(Message.of(MessageType.PRESS, 0, bytes));
    }

    @Override
    public void refuse(final LeaseRequest request, final Refusal why) {
        refuse(request, why, "");
    }

    private void refuse(final LeaseRequest request, final Refusal why, final String detail) {
        final Account account = request.account();
        final Peer peer = peers.get(account);
        if (peer == null) {
            return;
        }
        tell(LenderEvent.Kind.REFUSED, account, request.bytes(), why.sentence());
        if (why == Refusal.FULL) {
            ledger.holders().stream()
                    .limit(MOST_HOLDERS)
                    .forEach(holder -> peer.send(new Message(
                            MessageType.HOLDER,
                            request.number(),
                            holder.leasedBytes,
                            holder.pid,
                            ledger.guaranteedBytes(holder.name),
                            holder.name)));
        }
        peer.send(new Message(
                MessageType.REFUSED,
                request.number(),
                why.code(),
                Math.max(0, ledger.roomBytes(account.name)),
                ledger.limitBytes(),
                detail));
    }

    /** Takes off what a connection had that is closed. The next {@link #time} gives others what is there for them. */
    void left(final Peer peer) {
        final Account account = peer.account;
        if (account != null) {
            peers.remove(account);
            early.removeIf(request -> request.account() == account);
            admission.drop(account);
            final long bytes = account.leasedBytes;
            shares.leave(account);
            ledger.close(account);
            tell(LenderEvent.Kind.DISCONNECTED, account, bytes, String.valueOf(peer.doom()));
        } else if (peer.standing == Peer.Standing.UNKNOWN) {
            tell(LenderEvent.Kind.TURNED_AWAY, null, 0, "pid " + peer.who.pid() + ": " + peer.doom());
        }
    }

    /** Ends the making of memory, once all connections are closed. */
    void end() {
        makers.end();
        spares.end();
    }

    LenderStatus status() {
        return LenderStatus.of(device.name(), ledger, spares, this::waitingBytes);
    }

    private long waitingBytes(final Account account) {
        return admission.waitingBytes(account)
                + earlyOf(account).mapToLong(LeaseRequest::bytes).sum();
    }

    private Stream<LeaseRequest> earlyOf(final Account account) {
        return early.stream().filter(request -> request.account() == account);
    }
}
