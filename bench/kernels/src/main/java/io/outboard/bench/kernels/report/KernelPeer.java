package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Template;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A peer is what a published in-kernel allocator took in a case, from {@code kernel-peers.csv} beside this class: a
 * reference value, of the same kind of GPU but another harness. Immutable, so safe for any number of threads.
 *
 * @param caseName the case, as {@link KernelResult#name}
 * @param peer name of the allocator
 * @param times its times, in that harness
 * @param empty the times of that harness's kernel without an allocator
 * @param date year and month
 * @param harness what measured it
 */
public record KernelPeer(
        String caseName, String peer, KernelTimes times, KernelTimes empty, String date, String harness) {

    private static final String RESOURCE = PublishedTable.FOLDER + "kernel-peers.csv";
    private static final int CELLS = 8;

    /** Returns the times without those of the harness's empty kernel. */
    KernelTimes net() {
        return times.minus(empty);
    }

    /** Returns all peers; if a case has the same peer twice, the last one. */
    public static List<KernelPeer> load() {
        return read(RESOURCE, Template.load(RESOURCE));
    }

    /**
     * Reads lines of comma-separated values below a heading; lines that begin with {@code #} are comments.
     *
     * @throws IllegalStateException if a line isn't a peer's; names it
     */
    static List<KernelPeer> read(final String name, final String text) {
        final Map<String, KernelPeer> peers = new LinkedHashMap<>();
        text.lines()
                .filter(line -> !line.startsWith("#"))
                .skip(1)
                .forEach(line -> peers.put(key(name, line), parse(name, line)));
        return new ArrayList<>(peers.values());
    }

    /** Returns the peer with the least net time for allocate and free together in a case. */
    static Optional<KernelPeer> best(final List<KernelPeer> peers, final String caseName) {
        return peers.stream()
                .filter(peer -> peer.caseName().equals(caseName))
                .min(Comparator.comparingDouble(peer -> peer.net().total()));
    }

    private static String key(final String name, final String line) {
        final KernelPeer peer = parse(name, line);
        return peer.caseName() + "," + peer.peer();
    }

    private static KernelPeer parse(final String name, final String line) {
        final String[] cells = line.split(",", -1);
        if (cells.length != CELLS) {
            throw new IllegalStateException(name + ": line " + line + " must have " + CELLS + " cells");
        }
        try {
            return new KernelPeer(
                    cells[0],
                    cells[1],
                    new KernelTimes(Double.parseDouble(cells[2]), optional(cells[3])),
                    new KernelTimes(Double.parseDouble(cells[4]), optional(cells[5])),
                    cells[6],
                    cells[7]);
        } catch (final NumberFormatException e) {
            throw new IllegalStateException(name + ": line " + line + " must have numbers of microseconds", e);
        }
    }

    private static double optional(final String cell) {
        return cell.isEmpty() ? Double.NaN : Double.parseDouble(cell);
    }
}
