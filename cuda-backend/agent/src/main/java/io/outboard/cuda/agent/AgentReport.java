package io.outboard.cuda.agent;

import io.outboard.cuda.DeviceStatistics;
import io.outboard.cuda.Outboard;
import io.outboard.cuda.internal.foreign.Downcalls;
import io.outboard.pool.PoolStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The report makes the lines that the agent prints at exit. */
final class AgentReport {

    private AgentReport() {}

    /** Reports on the process so far. */
    static List<String> lines(final RedirectingTransformer transformer, final BindingTransformer bindings) {
        final Map<String, Integer> functionsByClass = new TreeMap<>(bindings.functionsByClass());
        final int downcalls = Downcalls.replaced().size();
        if (downcalls > 0) {
            functionsByClass.put("java.lang.foreign", downcalls);
        }
        return lines(transformer.callsByClass(), functionsByClass, Outboard.statistics());
    }

    static List<String> lines(
            final Map<String, Integer> callsByClass,
            final Map<String, Integer> functionsByClass,
            final List<DeviceStatistics> pools) {
        final int calls =
                callsByClass.values().stream().mapToInt(Integer::intValue).sum();
        final List<String> lines = new ArrayList<>();
        if (calls > 0 || functionsByClass.isEmpty()) {
            lines.add("redirected " + count(calls, "call") + " of CUDA in "
                    + count(callsByClass.size(), "class", "classes"));
        }
        new TreeMap<>(functionsByClass)
                .forEach((name, functions) -> lines.add("redirected " + count(functions, "function") + " of " + name));
        if (pools.isEmpty()) {
            lines.add("no pool was made");
        }
        for (final DeviceStatistics pool : pools) {
            final PoolStatistics statistics = pool.statistics();
            final long frees = statistics.allocations() - statistics.liveBlocks();
            lines.add("device " + pool.device() + ": " + count(statistics.allocations(), "allocation") + " and "
                    + count(frees, "free") + " without the driver; "
                    + count(statistics.synchronizations(), "wait") + " for the device instead of " + frees);
            lines.add("device " + pool.device() + ": " + statistics);
        }
        return lines;
    }

    private static String count(final long count, final String noun) {
        return count(count, noun, noun + "s");
    }

    private static String count(final long count, final String one, final String many) {
        return count + " " + (count == 1 ? one : many);
    }
}
