package io.outboard.bench.cli.trace;

import io.outboard.bench.cli.trace.Owners.Place;
import io.outboard.bench.cli.trace.PickledData.Dictionary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * This class reads one device's history from a snapshot of PyTorch's memory ({@code memory_snapshot.pickle}, as
 * {@code torch.cuda.memory._dump_snapshot} writes it). Blocks that are older than the history, by its frees or by the
 * blocks in use at its end, are allocated at the start of the trace.
 *
 * <p>Thread-safety: confined to one thread.
 */
final class TorchSnapshot {

    private static final long MICROSECOND_NANOS = 1_000;

    /** The folder of PyTorch's own sources where it is installed; their frames aren't the program's. */
    private static final String LIBRARY = "-packages/torch/";

    private final TraceContent content;
    private final TimedRows rows;
    private final @Nullable Owners owners;

    /** The addresses of which the history has an event so far. */
    private final Set<Long> seen = new HashSet<>();

    /** Where the program was, by the list of frames itself: a snapshot has each list once, and refers to it. */
    private final IdentityHashMap<Object, Place> places = new IdentityHashMap<>();

    private long older;

    TorchSnapshot(
            final TraceContent content,
            final int maximumOperations,
            final int maximumSlots,
            final @Nullable Owners owners) {
        this.content = content;
        this.owners = owners;
        rows = new TimedRows(maximumOperations, maximumSlots, owners, this::error);
    }

    /** Reads the history of a device, which is the only one that has any, if none is named. */
    Trace read(final @Nullable String device, final String ruleForSeveral) throws IOException {
        if (!(PickledData.read(content) instanceof final Dictionary snapshot)
                || !(snapshot.get("device_traces") instanceof final List<?> histories)) {
            throw error("the pickle must be a snapshot of PyTorch, a dictionary with device_traces");
        }
        final List<String> devices = IntStream.range(0, histories.size())
                .filter(each -> !events(histories.get(each)).isEmpty())
                .mapToObj(Integer::toString)
                .collect(Collectors.toList());
        if (devices.isEmpty()) {
            throw error("the snapshot must hold a history, which torch.cuda.memory._record_memory_history begins");
        }
        if (device == null ? devices.size() > 1 : !devices.contains(device)) {
            throw error((device == null ? ruleForSeveral : "--pool=" + device + FlightRecording.NAMES_ONE) + ": "
                    + String.join(", ", devices));
        }
        final int number = Integer.parseInt(device == null ? devices.get(0) : device);
        final List<?> events = events(histories.get(number));
        long atNanos = 0;
        for (final Object event : events) {
            if (event instanceof final Dictionary its) {
                if (its.get("time_us") instanceof final Long micros) {
                    atNanos = micros * MICROSECOND_NANOS;
                } else {
                    // Older versions have no times.
                    atNanos++;
                    dropTimes();
                }
                add(its, atNanos);
            }
        }
        addInUse(snapshot, number);
        return rows.toTrace(
                content.fileName(),
                older == 0 ? List.of() : List.of(older + " blocks are older than the history, and begin with it"));
    }

    private void dropTimes() {
        if (owners != null) {
            owners.dropTimes();
        }
    }

    private static List<?> events(final @Nullable Object history) {
        return history instanceof final List<?> events ? events : List.of();
    }

    private void add(final Dictionary event, final long atNanos) throws TraceFormatException {
        final String action = text(event.get("action"));
        switch (action) {
            case "alloc" -> {
                final long address = number(event, "addr");
                seen.add(address);
                rows.add(atNanos, address, number(event, "size"));
                own(event);
            }
            // A free is completed when the streams that use the block are done with it.
            case "free_completed" -> {
                final long address = number(event, "addr");
                if (seen.add(address)) {
                    addOlder(address, event);
                }
                rows.add(atNanos, address, TimedRows.FREE);
            }
            case "oom" -> {
                if (rows.addFailed(atNanos, number(event, "size"))) {
                    own(event);
                }
            }
            default -> {
                // Segments are the allocator's own, and a requested free is completed later.
            }
        }
    }

    private void addOlder(final long address, final Dictionary event) throws TraceFormatException {
        older++;
        rows.add(Owners.BEFORE, address, number(event, "size"));
        own(event);
    }

    /** Adds blocks in use of which the history has no event. */
    private void addInUse(final Dictionary snapshot, final int device) throws TraceFormatException {
        for (final Object each : events(snapshot.get("segments"))) {
            if (each instanceof final Dictionary segment && number(segment, "device") == device) {
                long address = number(segment, "address");
                for (final Object one : events(segment.get("blocks"))) {
                    if (one instanceof final Dictionary block) {
                        final boolean isInUse = text(block.get("state")).startsWith("active");
                        if (isInUse && seen.add(address)) {
                            older++;
                            rows.add(
                                    Owners.BEFORE,
                                    address,
                                    number(block, block.get("requested_size") == null ? "size" : "requested_size"));
                            own(block);
                        }
                        address += number(block, "size");
                    }
                }
            }
        }
    }

    private void own(final Dictionary event) {
        if (owners != null) {
            rows.ownedBy(owners.numberOf(
                    placeOf(owners, event.get("frames")),
                    "",
                    event.get("stream") instanceof final Long stream ? stream : Owners.ANY_STREAM));
        }
    }

    private Place placeOf(final Owners its, final @Nullable Object frames) {
        return frames == null ? Place.NONE : places.computeIfAbsent(frames, list -> newPlace(its, list));
    }

    /** Finds the innermost frame of the program itself, or else the innermost one; empty if there is none. */
    private static Place newPlace(final Owners owners, final Object frames) {
        final List<String> stack = new ArrayList<>();
        String site = "";
        for (final Object each : events(frames)) {
            if (each instanceof final Dictionary frame && frame.get("filename") instanceof final String file) {
                stack.add(file.substring(file.lastIndexOf('/') + 1) + ":" + text(frame.get("line")) + " "
                        + text(frame.get("name")));
                if (site.isEmpty() && file.endsWith(".py") && !file.contains(LIBRARY)) {
                    site = stack.get(stack.size() - 1);
                }
            }
        }
        return new Place(site.isEmpty() && !stack.isEmpty() ? stack.get(0) : site, owners.stackOf(stack));
    }

    private long number(final Dictionary of, final String key) throws TraceFormatException {
        if (of.get(key) instanceof final Long number) {
            return number;
        }
        throw error(key + "=" + text(of.get(key)) + " must be a whole number");
    }

    /** Returns a text or a number as a text, and nothing for a list, which may be in itself, or huge. */
    private static String text(final @Nullable Object object) {
        return object instanceof String || object instanceof Number ? object.toString() : "";
    }

    private TraceFormatException error(final String problem) {
        return content.error("snapshot", problem);
    }
}
