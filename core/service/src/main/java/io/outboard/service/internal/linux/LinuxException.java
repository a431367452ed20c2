package io.outboard.service.internal.linux;

import java.io.IOException;

/** A Linux exception says which call of Linux failed, and why. */
public final class LinuxException extends IOException {

    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EISDIR = 21;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int ENOSPC = 28;
    public static final int EPIPE = 32;
    public static final int ELOOP = 40;

    /** The error number of {@link Linux#receive} when more descriptors came than the message may have. */
    public static final int EBADMSG = 74;

    public static final int ENOPROTOOPT = 92;
    public static final int EADDRINUSE = 98;
    public static final int ECONNRESET = 104;
    public static final int ETOOMANYREFS = 109;
    public static final int ECONNREFUSED = 111;

    private static final long serialVersionUID = 1L;

    private final int number;

    public LinuxException(final String call, final int number) {
        super(call + ": " + nameOf(number));
        this.number = number;
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }

    /** Returns the {@code errno}. */
    public int number() {
        return number;
    }

    /** Returns whether the process or the machine has no descriptors left. */
    public boolean isOutOfDescriptors() {
        return number == EMFILE || number == ENFILE;
    }

    /** Returns whether there was no memory for the call. */
    public boolean isOutOfMemory() {
        return number == ENOMEM || number == ENOSPC;
    }

    private static String nameOf(final int number) {
        return switch (number) {
            case EPERM -> "EPERM (not permitted)";
            case ENOENT -> "ENOENT (no such file)";
            case EAGAIN -> "EAGAIN (no room now)";
            case ENOMEM -> "ENOMEM (no memory)";
            case EACCES -> "EACCES (permission denied)";
            case EISDIR -> "EISDIR (a folder)";
            case ENFILE -> "ENFILE (the machine has no descriptors left)";
            case EMFILE -> "EMFILE (the process has no descriptors left)";
            case ENOSPC -> "ENOSPC (no memory)";
            case EPIPE -> "EPIPE (the other end is closed)";
            case ELOOP -> "ELOOP (a link)";
            case EBADMSG -> "EBADMSG (a message came with a descriptor that it can't have)";
            case ENOPROTOOPT -> "ENOPROTOOPT (no such option)";
            case EADDRINUSE -> "EADDRINUSE (another has the name)";
            case ECONNRESET -> "ECONNRESET (the other end is closed)";
            case ETOOMANYREFS -> "ETOOMANYREFS (too many of the user's descriptors are on their way)";
            case ECONNREFUSED -> "ECONNREFUSED (nobody listens)";
            default -> "errno " + number;
        };
    }
}
