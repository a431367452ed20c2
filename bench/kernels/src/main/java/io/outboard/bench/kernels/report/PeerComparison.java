package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.DoubleStream;

/**
 * The class compares one of our allocators with the best published one in each case. Both are shown as they were
 * measured and net of the empty kernel of their harness, and compared net. Immutable, so safe for any number of
 * threads.
 */
public final class PeerComparison {

    /** The explanation for people beside every table. */
    public static final String ABOUT =
            "Microseconds for allocate/free, or for both in one kernel, as measured and net of a"
                    + " kernel that allocates nothing. Peers: their published code on an H200 with a heap of 2 GiB, an independent"
                    + " harness, November 2026, reference values: the best in each case, by allocate and free, net.";

    /**
     * The resolution of CUDA's events, by the manual of {@code cuEventElapsedTime}; a shorter time counts as this time.
     */
    private static final double RESOLUTION_US = 0.5;

    /** The allocators of ours for which the comparison is shown. */
    private static final String NEWEST = "BitMalloc";

    private static final String FAMILY = "CFMMalloc coalesced";

    /**
     * A row is a case.
     *
     * @param name the case
     * @param result ours
     * @param net ours, without our empty kernel
     * @param peer the best published
     */
    record Row(String name, KernelResult result, KernelTimes net, KernelPeer peer) {

        /** Returns the ratio of our time to the peer's. */
        double ratio() {
            return over(net.total(), peer.net().total());
        }

        /** Returns the ratio of our time to the peer's for allocate alone. */
        double allocateRatio() {
            return over(net.allocate(), peer.net().allocate());
        }

        /** Returns whether the peer is faster, or ours didn't do what was asked for. */
        boolean trails() {
            return !(net.total() <= peer.net().total()) || KernelComparison.isBad(result);
        }

        String ratioText() {
            return factor(ratio()) + (trails() ? " trails" : "");
        }

        static String factor(final double ratio) {
            return Double.isNaN(ratio) ? Html.NONE : String.format(Locale.ROOT, "%.2f", ratio);
        }

        private static double over(final double ours, final double theirs) {
            return Math.max(ours, RESOLUTION_US) / Math.max(theirs, RESOLUTION_US);
        }
    }

    private final String contender;
    private final List<Row> rows;

    private PeerComparison(final String contender, final List<Row> rows) {
        this.contender = contender;
        this.rows = List.copyOf(rows);
    }

    /**
     * Compares our main allocators with peers.
     *
     * @param results of a run; cases count where the run has the empty kernel too
     * @return one for each of our main allocators that a peer's case was run for
     */
    public static List<PeerComparison> of(final List<KernelResult> results) {
        final List<KernelPeer> peers = KernelPeer.load();
        final List<PeerComparison> comparisons = new ArrayList<>();
        for (final String contender :
                results.stream().map(KernelResult::contender).distinct().toList()) {
            if (contender.startsWith(NEWEST) || contender.startsWith(FAMILY)) {
                final List<Row> rows = rows(results, contender, peers);
                if (!rows.isEmpty()) {
                    comparisons.add(new PeerComparison(contender, rows));
                }
            }
        }
        return comparisons;
    }

    private static List<Row> rows(
            final List<KernelResult> results, final String contender, final List<KernelPeer> peers) {
        final List<Row> rows = new ArrayList<>();
        for (final KernelResult result : results) {
            if (result.contender().equals(contender)) {
                final Optional<KernelPeer> peer = KernelPeer.best(peers, result.name());
                final Optional<KernelResult> empty = results.stream()
                        .filter(other -> other.contender().equals(KernelResult.EMPTY)
                                && other.name().equals(result.name()))
                        .findFirst();
                if (peer.isPresent() && empty.isPresent()) {
                    final KernelTimes net = result.times().minus(empty.get().times());
                    rows.add(new Row(result.name(), result, net, peer.get()));
                }
            }
        }
        return rows;
    }

    /**
     * Returns which of our allocators is compared.
     *
     * @return for example {@code CFMMalloc coalesced}
     */
    public String contender() {
        return contender;
    }

    /**
     * Returns the cases in the order of the run, each as cells: case, ours, ours net, the peer's name, its times, these
     * net, and the ratio of our time to the peer's, with {@code trails} if it is more.
     *
     * @return a list of seven texts for each case
     */
    public List<List<String>> cells() {
        return rows.stream()
                .map(row -> List.of(
                        row.name(),
                        row.result().cell(),
                        row.net().text(),
                        row.peer().peer(),
                        row.peer().times().text(),
                        row.peer().net().text(),
                        row.ratioText()))
                .toList();
    }

    /**
     * Returns in how many cases ours is ahead, and how far behind it is at most.
     *
     * @return a line
     */
    public String summary() {
        final long ahead = rows.stream().filter(row -> !row.trails()).count();
        final Optional<Row> worst = rows.stream()
                .filter(row -> row.allocateRatio() > 1)
                .max(Comparator.comparingDouble(Row::allocateRatio));
        return "ahead in " + ahead + " of " + rows.size() + " cases (allocate + free, net); allocate "
                + worst.map(row -> String.format(
                                Locale.ROOT,
                                "behind by at most %.2f times (%s, %.1f \u00B5s over %.1f)",
                                row.allocateRatio(),
                                row.name(),
                                row.net().allocate(),
                                row.peer().net().allocate()))
                        .orElse("behind in none");
    }

    /** Returns how many times faster than the best published ours is in each case, both net; NaN where ours failed. */
    DoubleStream factors() {
        return rows.stream().mapToDouble(row -> KernelComparison.isBad(row.result()) ? Double.NaN : 1 / row.ratio());
    }

    String html() {
        final HtmlTable table = new HtmlTable(contender + " beside the best published", "Case");
        table.column("Ours", "measured");
        table.column("Ours", "net");
        table.column("Best published", "whose");
        table.column("Best published", "measured");
        table.column("Best published", "net");
        table.column("Best published", "date, harness");
        table.column("Ours over theirs, net", "both");
        table.column("Ours over theirs, net", "allocate");
        for (final Row row : rows) {
            final KernelPeer peer = row.peer();
            table.row(
                    Html.escape(row.name()),
                    List.of(
                            new HtmlTable.Cell(
                                    row.result().microseconds(), row.result().cell()),
                            cell(row.net()),
                            new HtmlTable.Cell(Double.NaN, peer.peer()),
                            cell(peer.times()),
                            cell(peer.net()),
                            new HtmlTable.Cell(Double.NaN, peer.date() + ", " + peer.harness()),
                            new HtmlTable.Cell(row.ratio(), row.ratioText(), row.trails()),
                            new HtmlTable.Cell(
                                    row.allocateRatio(), Row.factor(row.allocateRatio()), row.allocateRatio() > 1)));
        }
        return KernelComparison.part(
                contender + " beside the best published",
                ABOUT + " " + contender + ": " + summary() + ".",
                table.html());
    }

    private static HtmlTable.Cell cell(final KernelTimes times) {
        return new HtmlTable.Cell(times.total(), times.text());
    }
}
