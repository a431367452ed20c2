package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The lender's loop runs in the lender's thread. It waits for connections, messages and time, and never for a client or
 * the device. Other threads {@link #post} what it must do for them.
 */
final class LenderLoop implements Runnable {

    /** The time after which a connection is closed whose client hasn't said who it is. */
    static final long HELLO_NANOS = 5_000_000_000L;

    /** The number of descriptors that the loop waits for, other than those of connections. */
    private static final int OTHERS = 2;

    /** The number of messages taken of one client before others are served. */
    private static final int MESSAGES_AT_ONCE = 64;

    /** The number of connections taken before clients are served; {@code poll} reports again what is left. */
    private static final int CONNECTIONS_AT_ONCE = 64;

    /** The time that connections wait when all descriptors are used up and even the reserve doesn't help. */
    private static final long REST_NANOS = 100_000_000;

    /** The pause before a descriptor is sent again of which Linux had too many on their way. */
    private static final long IN_FLIGHT_NANOS = 5_000_000;

    private static final long MILLI_NANOS = 1_000_000;

    private final Linux linux;
    private final SocketFile file;

    /** The lock of the device; null if the device needs none. */
    private final @Nullable DeviceLock lock;

    private final Requests requests;
    private final int mostPeers;
    private final List<Peer> peers = new ArrayList<>();
    private final Backlog backlog = new Backlog();
    private final Queue<Runnable> posted = new ConcurrentLinkedQueue<>();

    /** The event that wakes the thread after an action is posted. The monitor guards it, since the end closes it. */
    private final int event;

    /** The action at the end, while no other lender can have the socket's path yet. */
    private final Runnable onEnd;

    /** Whether the loop must end. Confined to the lender's thread. */
    private boolean ending;

    /**
     * Whether the thread runs no more posted actions. From then on, whoever posts an action runs it, and the event is
     * closed. The monitor guards this field.
     */
    private boolean ended;

    /** A descriptor that is closed when no other is left, so that a connection can be accepted and turned away. */
    private int reserve;

    private long restsUntilNanos;

    /** Whether {@link #look} has looked since this thread began to do what it does now. */
    private boolean hasLooked;

    /**
     * Creates a loop that closes the file and the lock at its end.
     *
     * @throws IOException if Linux has no descriptors left; then the file and the lock stay open, and nothing else
     */
    LenderLoop(
            final Linux linux,
            final SocketFile file,
            final @Nullable DeviceLock lock,
            final Requests requests,
            final int mostPeers,
            final Runnable onEnd)
            throws IOException {
        this.linux = linux;
        this.file = file;
        this.lock = lock;
        this.requests = requests;
        this.mostPeers = mostPeers;
        this.onEnd = onEnd;
        event = linux.event();
        boolean done = false;
        try {
            reserve = linux.event();
            done = true;
        } finally {
            if (!done) {
                linux.close(event);
            }
        }
        requests.lookBy(this::look);
    }

    /**
     * Runs the action in the lender's thread, soon. After the thread has ended, the caller runs it at once, one action
     * at a time.
     */
    synchronized void post(final Runnable action) {
        posted.add(action);
        if (ended) {
            runPosted();
        } else {
            linux.signal(event);
        }
    }

    /** Ends the thread soon. */
    void end() {
        post(() -> ending = true);
    }

    /** Ends the posting of actions to the thread, which has closed all else. */
    private synchronized void endPosting() {
        ended = true;
        linux.close(event);
        runPosted();
    }

    /** Runs the posted actions: in the lender's thread, or under the monitor after that has ended. */
    private void runPosted() {
        Runnable action = posted.poll();
        while (action != null) {
            hasLooked = false;
            attempt(action::run);
            action = posted.poll();
        }
    }

    @Override
    public void run() {
        attempt(() -> {
            while (!ending) {
                turn();
            }
        });
        closeAll();
        endPosting();
    }

    private void closeAll() {
        for (final Peer peer : List.copyOf(peers)) {
            attempt(() -> peer.doom("the lender ends"));
            attempt(() -> close(peer));
        }
        attempt(onEnd::run);
        if (lock != null) {
            lock.close();
        }
        attempt(file::close);
        if (reserve != Linux.NONE) {
            linux.close(reserve);
        }
        attempt(requests::end);
        attempt(() -> requests.tell(LenderEvent.Kind.ENDED, null, 0, ""));
    }

    /** A step is one of several that must all be tried. */
    private interface Step {
        void take() throws IOException;
    }

    /** Takes a step. Whatever becomes of it, the next ones must be taken, too: others wait for what they do. */
    private void attempt(final Step step) {
        try {
            step.take();
        } catch (final IOException | RuntimeException | Error e) {
            final String detail = e instanceof final LinuxException known ? known.getMessage() : e.toString();
            try {
                requests.tell(LenderEvent.Kind.FAILED, null, 0, detail);
            } catch (final RuntimeException | Error e2) {
                System.getLogger("io.outboard.service").log(System.Logger.Level.WARNING, "a lender failed", e);
            }
        }
    }

    /** Goes around the loop once. */
    private void turn() throws LinuxException {
        final long now = requests.now();
        final List<Peer> all = List.copyOf(peers);
        final int count = OTHERS + all.size();
        final int[] descriptors = new int[count];
        final short[] events = new short[count];
        Arrays.fill(events, Linux.READABLE);
        descriptors[0] = event;
        // Linux ignores negative descriptors.
        descriptors[1] = now < restsUntilNanos ? Linux.NONE : file.descriptor;
        for (int i = 0; i < all.size(); i++) {
            final Peer peer = all.get(i);
            descriptors[OTHERS + i] = peer.socket;
            events[OTHERS + i] |= peer.hasKept() && !peer.rests() ? Linux.WRITABLE : 0;
        }
        linux.poll(descriptors, events, count, millisTo(nextNanos(now), now));
        hasLooked = false;
        if (events[0] != 0) {
            linux.clear(event);
            runPosted();
        }
        // Messages come before new connections, so that what a client has given back is there for the others.
        for (int i = 0; i < all.size(); i++) {
            if (events[OTHERS + i] != 0 || all.get(i).rests()) {
                serve(all.get(i));
            }
        }
        if (events[1] != 0) {
            accept();
        }
        // Whoever is sent something may turn out to be gone. Then others may be served.
        do {
            sweep();
            hasLooked = false;
            requests.time();
        } while (peers.stream().anyMatch(peer -> peer.doom() != null));
    }

    private long nextNanos(final long now) {
        long next = Math.min(requests.nextNanos(), now < restsUntilNanos ? restsUntilNanos : Long.MAX_VALUE);
        for (final Peer peer : peers) {
            next = peer.isKnown() ? next : Math.min(next, peer.helloUntilNanos);
            next = peer.rests() ? Math.min(next, now + IN_FLIGHT_NANOS) : next;
        }
        return next;
    }

    /** Returns the time left in milliseconds, rounded up, since the loop would otherwise spin for the last one. */
    private static int millisTo(final long next, final long now) {
        if (next == Long.MAX_VALUE) {
            return -1;
        }
        return (int) Math.min(Integer.MAX_VALUE, Math.max(0, (next - now + MILLI_NANOS - 1) / MILLI_NANOS));
    }

    /**
     * Looks for clients that are gone before something is refused, and takes off what they held. Once is enough for all
     * that one client has sent, since a client that waits for each answer has no second request there.
     *
     * @return whether there were any
     */
    private boolean look() {
        final boolean looks = !hasLooked;
        hasLooked = true;
        return looks && closeHungUp();
    }

    /**
     * Closes all connections whose other ends are closed by now, and those that must be closed. What such a client has
     * sent before doesn't matter any more. What it held is there for others once all are closed.
     *
     * @return whether there were any
     */
    private boolean closeHungUp() {
        final List<Peer> all = List.copyOf(peers);
        final int[] descriptors = all.stream().mapToInt(peer -> peer.socket).toArray();
        final short[] events = new short[descriptors.length];
        try {
            linux.poll(descriptors, events, descriptors.length, 0);
        } catch (final LinuxException e) {
            // So does the next turn, and ends the lender.
            return false;
        }
        for (int i = 0; i < descriptors.length; i++) {
            if ((events[i] & Linux.HUNG_UP) != 0) {
                all.get(i).doom("");
            }
        }
        final int before = peers.size();
        sweep();
        return peers.size() < before;
    }

    private void serve(final Peer peer) {
        hasLooked = false;
        peer.flush();
        // The array has one byte more than a message, so that messages that are too long are noticed.
        final byte[] bytes = new byte[Message.BYTES + 1];
        try {
            for (int i = 0; i < MESSAGES_AT_ONCE && peer.doom() == null; i++) {
                final int length = linux.receive(peer.socket, bytes, new int[0]);
                if (length == Linux.NOTHING) {
                    return;
                }
                if (length == 0) {
                    peer.doom("");
                } else {
                    requests.take(peer, Message.read(bytes, length));
                }
            }
        } catch (final IOException e) {
            peer.doom(String.valueOf(e.getMessage()));
        } catch (final RuntimeException e) {
            // Whatever a client has sent, the others must be served.
            requests.tell(LenderEvent.Kind.FAILED, peer.account, 0, e.toString());
            peer.doom("the lender failed: " + e);
        }
    }

    private void accept() {
        try {
            int socket = file.accept();
            for (int i = 1; socket != Linux.NONE; i++) {
                admit(socket);
                socket = i < CONNECTIONS_AT_ONCE ? file.accept() : Linux.NONE;
            }
        } catch (final LinuxException e) {
            if (e.isOutOfDescriptors() && closeHungUp()) {
                // Now there are descriptors, and the next turn finds the connection again.
                return;
            }
            requests.tell(LenderEvent.Kind.TURNED_AWAY, null, 0, e.getMessage());
            if (!e.isOutOfDescriptors() || !turnAway()) {
                restsUntilNanos = requests.now() + REST_NANOS;
            }
        }
    }

    private void admit(final int socket) throws LinuxException {
        boolean done = false;
        try {
            if (peers.size() >= mostPeers) {
                closeHungUp();
            }
            if (peers.size() >= mostPeers) {
                requests.tell(LenderEvent.Kind.TURNED_AWAY, null, 0, "there are " + mostPeers + " connections");
                sayCrowded(socket, "connections: " + mostPeers);
                return;
            }
            peers.add(new Peer(linux, socket, linux.peer(socket), requests.now() + HELLO_NANOS, backlog));
            done = true;
        } finally {
            if (!done) {
                Peer.hangUp(linux, socket);
            }
        }
    }

    private void sayCrowded(final int socket, final String detail) {
        final Message refused = new Message(MessageType.REFUSED, 0, Refusal.CROWDED.code(), 0, 0, detail);
        try {
            linux.send(socket, refused.toBytes(), Linux.NONE);
        } catch (final LinuxException e) {
            // The other end has hung up already, and needn't know.
        }
    }

    /**
     * Accepts and refuses a connection, which {@code poll} would report again at once otherwise. Returns false if that
     * fails.
     */
    private boolean turnAway() {
        if (reserve != Linux.NONE) {
            linux.close(reserve);
            reserve = Linux.NONE;
        }
        try {
            final int socket = file.accept();
            if (socket != Linux.NONE) {
                sayCrowded(socket, "no descriptors left");
                Peer.hangUp(linux, socket);
            }
            reserve = linux.event();
            return true;
        } catch (final LinuxException e) {
            return false;
        }
    }

    /** Closes the connections that must be closed. */
    private void sweep() {
        final long now = requests.now();
        for (final Peer peer : List.copyOf(peers)) {
            if (!peer.isKnown() && now >= peer.helloUntilNanos) {
                peer.doom("it didn't say who it is");
            }
            if (peer.doom() != null) {
                attempt(() -> close(peer));
            }
        }
    }

    private void close(final Peer peer) {
        peers.remove(peer);
        try {
            peer.close();
        } finally {
            requests.left(peer);
        }
    }
}
