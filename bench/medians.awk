# Medians of results that are one JSON object a line, of several processes: a row for each thing measured, latencies in microseconds
# (in rows of the driver's over ours, ratios), held bytes in MiB.
#
#   awk -f bench/medians.awk processes.jsonl

function number(text, key) {
    return match(text, "\"" key "\":-?[0-9][0-9.]*") ? substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
}

function word(text, key,    value) {
    if (!match(text, "\"" key "\":(\"[^\"]*\"|[0-9]+)")) return ""
    value = substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
    gsub("\"", "", value)
    return value
}

function object(text, key) {
    return match(text, "\"" key "\":{[^}]*}") ? substr(text, RSTART, RLENGTH) : ""
}

function keep(figure, value) {
    if (value != "") values[row, figure] = values[row, figure] " " value
}

function keepLatencies(key,    i, ratio) {
    for (i = 1; i <= 5; i++) {
        keep(key percentiles[i], number(object($0, key), percentiles[i]))
        ratio = number(object($0, key "Ratio"), percentiles[i])
        keep(key percentiles[i], ratio == "" ? "" : ratio * 1000)
    }
}

function median(row, figure,    parts, count, i, j, swap) {
    count = split(values[row, figure], parts, " ")
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && parts[j - 1] + 0 > parts[j] + 0; j--) {
            swap = parts[j]
            parts[j] = parts[j - 1]
            parts[j - 1] = swap
        }
    return count == 0 ? "" : parts[int((count + 1) / 2)]
}

function show(value, format, factor) {
    return value == "" ? "-" : sprintf(format, value * factor)
}

BEGIN {
    split("p50 p99 p999 p9999 max", percentiles, " ")
    split("profile trace mode allocator strategy reusePolicy baseline slackBytes smallestBytes largestBytes liveBlocks launchers threads", names, " ")
    units["baseline"] = " over ours"
    units["slackBytes"] = " slack"
    units["liveBlocks"] = " live"
    units["launchers"] = " launchers"
    units["threads"] = " threads"
}

{
    row = ""
    for (i = 1; i in names; i++) {
        name = word($0, names[i])
        if (name != "" && name != "null") row = row (row == "" ? "" : " ") name units[names[i]]
    }
    if (!(row in count)) rows[++all] = row
    count[row]++
    keep("ops", number($0, "opsPerSecond"))
    keep("ns", number($0, "nsPerOp"))
    keep("cpu", number($0, "cpuNsPerOp"))
    keepLatencies("allocate")
    keepLatencies("free")
    held = number($0, "peakHeldBytes")
    keep("held", held == "" ? number($0, "heldBytes") : held)
    keep("live", held == "" ? number($0, "heldOverLive") : held / number($0, "peakLiveBytes"))
    keep("one", number($0, "ratio"))
    marks = number($0, "marksPerOp")
    keep("marks", marks + 0 > 0 ? 1 / marks : "")
}

END {
    print "runs; M operations/s, ns and CPU ns an operation; allocate p50 p99 p99.9 p99.99 slowest; free likewise; held most, over live, over one's; operations a mark"
    for (i = 1; i <= all; i++) {
        row = rows[i]
        line = sprintf("%-82s %2d; %s %s %s;", row, count[row], show(median(row, "ops"), "%.2f", 1e-6), show(median(row, "ns"), "%.1f", 1), show(median(row, "cpu"), "%.1f", 1))
        for (j = 1; j <= 5; j++) line = line " " show(median(row, "allocate" percentiles[j]), "%.3g", 1e-3)
        line = line ";"
        for (j = 1; j <= 5; j++) line = line " " show(median(row, "free" percentiles[j]), "%.3g", 1e-3)
        print line "; " show(median(row, "held"), "%.1f", 1 / 1048576) " " show(median(row, "live"), "%.3f", 1) " " show(median(row, "one"), "%.3f", 1) "; " show(median(row, "marks"), "%.0f", 1)
    }
}
