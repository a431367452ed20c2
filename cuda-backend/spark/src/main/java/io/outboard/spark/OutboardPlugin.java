package io.outboard.spark;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * The plugin gives each executor a pool of GPU memory over leases of the lender on its node: {@code
 * spark.plugins=io.outboard.spark.OutboardPlugin}. Tasks use it by {@link OutboardSpark}.
 *
 * <p>The driver's half checks the options {@code spark.outboard.*} and passes them on; the executor's half connects. An
 * executor whose node has no lender fails to start, with a message that has a command to start one: the plugin never
 * becomes a lender itself.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a connection and a few threads for an executor. When memory
 * runs out, a task gets {@link io.outboard.core.DeviceOutOfMemoryException}, and the executor goes on.
 */
public final class OutboardPlugin implements SparkPlugin {

    /** Spark calls this constructor. */
    public OutboardPlugin() {}

    @Override
    public DriverPlugin driverPlugin() {
        return new Driver();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Executor();
    }

    private static final class Driver implements DriverPlugin {

        @Override
        public Map<String, String> init(final SparkContext spark, final PluginContext context) {
            return ExecutorOptions.ofDriver(context.conf()).toMap();
        }
    }

    private static final class Executor implements ExecutorPlugin {

        @Override
        public void init(final PluginContext context, final Map<String, String> ofDriver) {
            // The context's host name isn't used: in an executor of a cluster, which has no port open, Spark 4.2.0
            // fails to return it.
            final ExecutorMemory memory =
                    ExecutorMemory.open(ExecutorOptions.ofMap(ofDriver), context.resources(), host());
            memory.show(context.metricRegistry());
            OutboardSpark.open(memory);
        }

        @Override
        public void shutdown() {
            OutboardSpark.close();
        }

        private static String host() {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (final UnknownHostException e) {
                return "the executor's node";
            }
        }
    }
}
