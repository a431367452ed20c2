package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A fake lender listens at a path, welcomes who connects, and then says what a test has it say, right or wrong. */
final class FakeLender implements AutoCloseable {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final Message WELCOME = new Message(MessageType.WELCOME, 0, UNIT, 0, 1024 * UNIT, "memory");
    private static final int LOOK_MILLIS = 20;

    /** A script says what to do with a message. One thread for each connection calls it. */
    interface Script {
        void heard(Line line, Message message) throws IOException;
    }

    /** A hook is called before a call of Linux is made, with the arguments of the call. What it throws, the call throws. */
    interface Hook {
        void before(String call, Object... arguments) throws LinuxException;
    }

    private final Linux linux;
    private final Script script;
    private final int listening;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Line> lines = new ArrayList<>();
    private volatile boolean ended;

    FakeLender(final Path socket, final Script script) throws IOException {
        this.script = script;
        linux = LinuxCalls.find();
        listening = linux.socket(false);
        linux.bind(listening, socket);
        linux.listen(listening);
        start(this::accept);
    }

    /** Returns the calls of Linux, with a hook before each. */
    static Linux hooked(final Hook hook) throws IOException {
        final Linux linux = LinuxCalls.find();
        return (Linux) Proxy.newProxyInstance(
                FakeLender.class.getClassLoader(), new Class<?>[] {Linux.class}, (proxy, method, arguments) -> {
                    hook.before(method.getName(), arguments == null ? new Object[0] : arguments);
                    try {
                        return method.invoke(linux, arguments);
                    } catch (final InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** A line is one connection. */
    final class Line {

        private final int socket;
        private boolean closed;

        private Line(final int socket) {
            this.socket = socket;
        }

        void say(final Message message) throws IOException {
            say(message, Linux.NONE);
        }

        synchronized void say(final Message message, final int descriptor) throws IOException {
            if (!closed) {
                linux.send(socket, message.toBytes(), descriptor);
            }
        }

        synchronized void end() {
            if (!closed) {
                linux.shutdown(socket);
            }
        }

        private void read() throws IOException {
            try {
                final byte[] bytes = new byte[Message.BYTES + 1];
                int length = 1;
                while (!ended && length != 0) {
                    linux.poll(new int[] {socket}, new short[] {Linux.READABLE}, 1, LOOK_MILLIS);
                    length = linux.receive(socket, bytes, new int[0]);
                    if (length > 0) {
                        final Message message = Message.read(bytes, length);
                        if (message.type() == MessageType.HELLO) {
                            say(WELCOME);
                        } else {
                            script.heard(this, message);
                        }
                    }
                }
            } finally {
                synchronized (this) {
                    closed = true;
                    linux.close(socket);
                }
            }
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private synchronized void start(final Work work) {
        final Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (final IOException e) {
                if (!ended && !String.valueOf(e.getMessage()).contains("closed")) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        threads.add(thread);
        thread.start();
    }

    private void accept() throws IOException {
        while (!ended) {
            linux.poll(new int[] {listening}, new short[] {Linux.READABLE}, 1, LOOK_MILLIS);
            final int accepted = linux.accept(listening);
            if (accepted != Linux.NONE) {
                final Line line = new Line(accepted);
                synchronized (this) {
                    lines.add(line);
                }
                start(line::read);
            }
        }
    }

    /** Returns the connections so far, including those that have ended. */
    synchronized List<Line> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void close() {
        ended = true;
        lines().forEach(Line::end);
        final List<Thread> left;
        synchronized (this) {
            left = List.copyOf(threads);
        }
        for (final Thread thread : left) {
            try {
                thread.join();
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        linux.close(listening);
    }
}
