package io.outboard.service.internal.linux;

import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * This interface has the Linux calls that lending needs: Unix sockets that keep messages apart and carry descriptors,
 * files that exist in memory only, and addresses to map them at. Started processes don't inherit descriptors.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a system call, and some garbage.
 */
public interface Linux {

    /** The value that stands for no descriptor. */
    int NONE = -1;

    /** The result of {@link #receive} when nothing is there. */
    int NOTHING = -1;

    /** The bit of {@link #poll} for a descriptor that can be read, or whose other end is closed. */
    short READABLE = 1;

    /** The bit of {@link #poll} for a descriptor that can be written. */
    short WRITABLE = 4;

    /** The bit of {@link #poll} for a connection whose other end is closed. Nobody has to ask for it. */
    short HUNG_UP = 16;

    /** The longest path of a socket, in bytes. */
    int MOST_PATH_BYTES = 107;

    /** A peer is the process and the user at the other end of a socket, as they were when that end connected. */
    record Peer(int pid, int uid) {}

    /**
     * Makes a socket that keeps messages apart ({@code SOCK_SEQPACKET}).
     *
     * @param waits whether accepting and receiving wait until something is there
     */
    int socket(boolean waits) throws LinuxException;

    void bind(int socket, Path path) throws LinuxException;

    /**
     * Gives a socket an abstract name, which no file stands for and which goes with the socket.
     *
     * @throws LinuxException {@link LinuxException#EADDRINUSE} if another socket has the name
     */
    void bindName(int socket, String name) throws LinuxException;

    void listen(int socket) throws LinuxException;

    /**
     * Has Linux refuse messages with descriptors that come to a socket, or to the connections that it accepts from then
     * on; whoever sends one gets {@link LinuxException#EPERM}.
     *
     * @throws LinuxException {@link LinuxException#ENOPROTOOPT} if Linux is older than 6.16
     */
    void refuseDescriptors(int socket) throws LinuxException;

    /** Returns the next connection, a socket that doesn't wait, or {@link #NONE}. */
    int accept(int socket) throws LinuxException;

    void connect(int socket, Path path) throws LinuxException;

    Peer peer(int socket) throws LinuxException;

    /**
     * Sends one message, without waiting.
     *
     * @param descriptor the descriptor that goes with the message, or {@link #NONE}
     * @return false if the socket has no room
     */
    boolean send(int socket, byte[] message, int descriptor) throws LinuxException;

    /**
     * Takes the next message. A message that is longer than the array is cut.
     *
     * @param descriptor its first element is set to the descriptor that came, or to {@link #NONE}; also to {@link
     *     #NONE} if this process has no descriptor left for it. With length 0, no descriptor may come
     * @throws LinuxException {@link LinuxException#EBADMSG} if more descriptors came than may; all are closed then
     * @return the length of the message; 0 if the other end is closed; {@link #NOTHING} if the socket doesn't wait and
     *     no message is there
     */
    int receive(int socket, byte[] message, int[] descriptor) throws LinuxException;

    /** Ends a connection for both ends, and wakes whoever waits; the descriptor stays open. */
    void shutdown(int socket);

    void close(int descriptor);

    /**
     * Waits until something can be done.
     *
     * @param descriptors the descriptors to wait for
     * @param events what to wait for, each {@link #READABLE} or {@link #WRITABLE} or both; set to what can be done,
     *     with {@link #HUNG_UP}, and with any other bit for an error
     * @param count how many descriptors
     * @param millis the longest wait, without a limit if negative
     */
    void poll(int[] descriptors, short[] events, int count, int millis) throws LinuxException;

    /** Makes a descriptor that {@link #poll} reports as readable after {@link #signal}. */
    int event() throws LinuxException;

    void signal(int event);

    /** Resets the effect of {@link #signal}. */
    void clear(int event);

    /** Makes an empty file that exists in memory only; {@code /proc} shows its name to processes of the user. */
    int emptyFile(String name) throws LinuxException;

    /** Makes a file that exists in memory only, and allocates its memory. */
    int memory(long bytes) throws LinuxException;

    /** Reserves addresses that nobody else is given. Access to them ends the process. */
    long reserve(long bytes) throws LinuxException;

    /**
     * Opens a file for reading and writing, and makes it for this user only if it isn't there. No link is followed, and
     * the call waits for nobody, whatever is there.
     */
    int open(Path path) throws LinuxException;

    /**
     * Locks a file for writing, until its descriptor is closed or the process ends.
     *
     * @return false if another descriptor, of this process or another one, has a lock
     */
    boolean lock(int file) throws LinuxException;

    /** Opens another descriptor of a file that exists in memory only; the file can't be written through it. */
    int openReadOnly(int file) throws LinuxException;

    /** Maps a file at reserved addresses. */
    void map(long address, long bytes, int file, boolean isReadOnly) throws LinuxException;

    /** Maps what is mapped at some addresses at other, reserved addresses, too. */
    void mapAgain(long from, long to, long bytes) throws LinuxException;

    /** Unmaps addresses, which stay reserved. */
    void unmap(long address, long bytes) throws LinuxException;

    /** Unmaps addresses, which others may be given from then on. */
    void free(long address, long bytes) throws LinuxException;

    /** Returns a buffer over mapped memory. Whether it is mapped isn't checked. */
    ByteBuffer view(long address, int bytes);

    /** Returns the user that this process runs as. */
    int user();
}
