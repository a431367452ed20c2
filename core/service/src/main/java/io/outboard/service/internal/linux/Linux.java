package io.outboard.service.internal.linux;

import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The calls of Linux that lending needs: Unix sockets that keep messages apart and carry descriptors, files that are
 * memory only, and addresses to map them at. Descriptors don't go to processes that are started.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a system call, and some garbage.
 */
public interface Linux {

    /** No descriptor. */
    int NONE = -1;

    /** {@link #receive}: nothing is there. */
    int NOTHING = -1;

    /** {@link #poll}: something can be read, or the other end is closed. */
    short READABLE = 1;

    /** {@link #poll}: something can be written. */
    short WRITABLE = 4;

    /** Longest path of a socket, in bytes. */
    int MOST_PATH_BYTES = 107;

    /** Who is at the other end of a socket, as it was when that connected. */
    record Peer(int pid, int uid) {}

    /**
     * A socket that keeps messages apart ({@code SOCK_SEQPACKET}).
     *
     * @param waits whether to accept and to receive wait until something is there
     */
    int socket(boolean waits) throws LinuxException;

    void bind(int socket, Path path) throws LinuxException;

    void listen(int socket) throws LinuxException;

    /** The next connection, which doesn't wait; {@link #NONE} if there is none. */
    int accept(int socket) throws LinuxException;

    void connect(int socket, Path path) throws LinuxException;

    Peer peer(int socket) throws LinuxException;

    /**
     * Sends one message, without waiting.
     *
     * @param descriptor what goes with it, or {@link #NONE}
     * @return false if there is no room
     */
    boolean send(int socket, byte[] message, int descriptor) throws LinuxException;

    /**
     * Takes the next message. What is longer than the array is cut.
     *
     * @param descriptor its first element is set to what came with it, or {@link #NONE}, also if this process has
     *     none left for it; may be of length 0, and then none may come
     * @throws LinuxException {@link LinuxException#EBADMSG} if more came than may; all are closed then
     * @return how long it was; 0 if the other end is closed; {@link #NOTHING} if the socket doesn't wait and none
     *     is there
     */
    int receive(int socket, byte[] message, int[] descriptor) throws LinuxException;

    /** Ends a connection, for both ends and whoever waits; the descriptor stays. */
    void shutdown(int socket);

    void close(int descriptor);

    /**
     * Waits until something can be done.
     *
     * @param descriptors which
     * @param events what for, each {@link #READABLE} or {@link #WRITABLE} or both; set to what can be done, any
     *     other bit for an error
     * @param count how many
     * @param millis most to wait for, negative for ever
     */
    void poll(int[] descriptors, short[] events, int count, int millis) throws LinuxException;

    /** A descriptor that {@link #poll} sees readable once it was {@link #signal}led. */
    int event() throws LinuxException;

    void signal(int event);

    /** It isn't signalled any more. */
    void clear(int event);

    /** A file that is memory only, and has it. */
    int memory(long bytes) throws LinuxException;

    /** Addresses that nobody else is given. To touch them is fatal. */
    long reserve(long bytes) throws LinuxException;

    /** Another descriptor of a file that is memory only, through which it can't be written to. */
    int openReadOnly(int file) throws LinuxException;

    /** Puts a file behind addresses that are reserved. */
    void map(long address, long bytes, int file, boolean isReadOnly) throws LinuxException;

    /** Puts what is mapped at some addresses behind others that are reserved, too. */
    void mapAgain(long from, long to, long bytes) throws LinuxException;

    /** Addresses are reserved as before. */
    void unmap(long address, long bytes) throws LinuxException;

    /** Whatever is mapped there goes, and others may be given the addresses. */
    void free(long address, long bytes) throws LinuxException;

    /** Memory that is mapped, without a check that it is. */
    ByteBuffer view(long address, int bytes);

    /** The user that this process works for. */
    int user();
}
