package io.outboard.test;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * This error says what a program did wrong with the memory of a {@link SimulatedGpu}. Its message begins with one of
 * these words:
 *
 * <ul>
 *   <li>{@code leak}: a block wasn't freed by the end of the test;
 *   <li>{@code hazard}: a kernel or an access touches memory after it was freed, or a block is freed or handed out while
 *       work may still use it;
 *   <li>{@code bounds}: an access leaves its block;
 *   <li>{@code kernel}: a kernel threw something else, which is the cause.
 * </ul>
 *
 * <p>It goes on with the block's address and size, the offset, and the lines of the program that allocated, freed and
 * launched, as far as they have to do with the fault.
 */
public final class MemoryFaultError extends AssertionError {

    private static final long serialVersionUID = 1L;

    /** The most faults that a message has, for a loop that makes thousands. */
    private static final int MOST_FAULTS = 10;

    MemoryFaultError(final String message, final @Nullable Throwable cause) {
        super(message, cause);
    }

    /** {@return what is wrong, with its lines} */
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }

    /** Joins several faults into one, or answers the only one. */
    static MemoryFaultError of(final List<MemoryFaultError> faults) {
        if (faults.size() == 1) {
            return faults.get(0);
        }
        final List<MemoryFaultError> first = faults.subList(0, Math.min(faults.size(), MOST_FAULTS));
        final StringBuilder message = new StringBuilder()
                .append(faults.size())
                .append(faults.size() > MOST_FAULTS ? " faults, the first " + MOST_FAULTS + " of them:" : " faults:");
        first.forEach(fault -> message.append('\n').append(fault.getMessage()));
        final MemoryFaultError joined = new MemoryFaultError(message.toString(), null);
        first.forEach(joined::addSuppressed);
        return joined;
    }
}
