package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.report.JsonLine;

/**
 * The result has what a number of threads reached with one pool, or with the driver.
 *
 * @param settings what they did
 * @param speed at full speed
 * @param clocked each operation
 * @param checked with every block checked
 * @param ratio operations a second over those of the fewest threads
 * @param bareOpsPerSecond operations a second of the same threads without an allocator
 */
record ThreadResult(
        ThreadSettings settings,
        ThreadBench.Speed speed,
        ThreadBench.Clocked clocked,
        ThreadBench.Checked checked,
        double ratio,
        double bareOpsPerSecond) {

    /** Returns the line of {@code thread-profiles.jsonl}. */
    JsonLine json() {
        final boolean ours = settings.kind().isOurs();
        return new JsonLine()
                .put("profile", settings.profile().label())
                .put("allocator", settings.kind().label())
                .put("strategy", ours ? settings.strategy() : null)
                .put("reusePolicy", ours ? settings.reusePolicy() : null)
                .put("device", settings.deviceText())
                .put("threads", (long) settings.threads())
                .put("workers", (long) settings.profile().workers(settings.threads()))
                .put("others", (long) settings.others())
                .put("launchers", (long) settings.launchers())
                .put("smallestBytes", settings.smallestBytes())
                .put("largestBytes", settings.largestBytes())
                .put("liveBlocks", (long) settings.liveBlocks())
                .put("opsPerSecond", speed.opsPerSecond(), 0)
                .put("ratio", ratio, 3)
                .put("cpuNsPerOp", speed.cpuNsPerOp(), 2)
                .put("bareOpsPerSecond", bareOpsPerSecond, 0)
                .put("gcBytesPerOp", speed.gcBytesPerOp(), 3)
                .put("allocate", clocked.allocate().json())
                .put("free", clocked.free().json())
                .put("heldBytes", ours ? (Long) speed.heldBytes() : null)
                .put("peakHeldBytes", ours ? (Long) speed.peakHeldBytes() : null)
                .put("peakLimboBytes", ours ? (Long) speed.peakLimboBytes() : null)
                .put("peakLiveBytes", checked.peakLiveBytes())
                .put("marksPerOp", ours ? speed.marksPerOp() : Double.NaN, 7)
                .put("checkedBlocks", checked.blocks());
    }
}
