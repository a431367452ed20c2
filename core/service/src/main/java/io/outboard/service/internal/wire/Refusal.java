package io.outboard.service.internal.wire;

/** A refusal is the reason why something is refused: {@code a} of {@link MessageType#REFUSED}. */
public enum Refusal {
    /** Others hold the memory; the messages before name them. */
    FULL(1, "the device is full"),

    /** The client's name may have no more. */
    QUOTA(2, "the client's quota is used up"),

    /** The device or Linux failed; the text says how. */
    FAILED(3, "the lender's device failed"),

    /** The client's messages are of another version. */
    VERSION(4, "the lender speaks another version"),

    /** The client is of another user. */
    PEER(5, "the client is another user's"),

    /** There are as many clients as there may be. */
    CROWDED(6, "the lender has too many clients"),

    /** The request is impossible; the text says which rule it breaks. */
    WRONG(7, "the request is wrong"),

    /** No shared lease has the ticket: none ever had, all clients have closed it, or another lender made it. */
    TICKET(8, "no shared lease has this ticket");

    private final int code;
    private final String sentence;

    Refusal(final int code, final String sentence) {
        this.code = code;
        this.sentence = sentence;
    }

    public int code() {
        return code;
    }

    /** Returns the reason for a person to read. */
    public String sentence() {
        return sentence;
    }

    /** Returns the refusal of a code; {@link #FAILED} for an unknown one. */
    public static Refusal of(final long code) {
        for (final Refusal refusal : values()) {
            if (refusal.code == code) {
                return refusal;
            }
        }
        return FAILED;
    }
}
