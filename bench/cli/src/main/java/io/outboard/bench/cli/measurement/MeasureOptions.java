package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.StrategyNames;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** These are the options that every measuring command has. They are checked as a whole before anything runs. */
public final class MeasureOptions {

    /** The value of {@code --region} that stands for the smallest region that serves the whole trace. */
    public static final String SMALLEST = "smallest";

    @Option(
            names = "--strategy",
            paramLabel = "NAME,...|all",
            split = ",",
            defaultValue = "tlsf",
            completionCandidates = StrategyNames.class,
            description =
                    "Strategies to measure, one after the other, each as if it were alone. Default: ${DEFAULT-VALUE}.")
    private List<String> strategies = List.of();

    @Option(
            names = "--device",
            paramLabel = "auto|none|N",
            defaultValue = "auto",
            description = "The GPU whose memory is divided, and whose driver's allocators are measured as well;"
                    + " without one, a range of numbers that nothing backs. Default: ${DEFAULT-VALUE}.")
    private String device = "auto";

    @Option(
            names = "--region",
            paramLabel = "SIZE|smallest",
            description =
                    "Size of the region, such as 64GiB, which a pool takes at once; or the smallest one that serves the whole trace,"
                            + " found to 0.0625 %% of peak live bytes up to 1.25 times as many, to 0.25 %% from there to 4 times;"
                            + " a strategy that needs more is measured in that. Default: what the trace is meant for; a pool grows as it needs.")
    private @Nullable String region;

    @Mixin
    private OutOfMemory outOfMemory = new OutOfMemory();

    @Mixin
    private OutputOptions output = new OutputOptions();

    /** Makes options for picocli to fill with the user's values. */
    public MeasureOptions() {}

    /** Makes options with the values that a user would give. */
    public MeasureOptions(
            final List<String> strategies,
            final String device,
            final @Nullable String region,
            final OutputOptions output) {
        this.strategies = strategies;
        this.device = device;
        this.region = region;
        this.output = output;
    }

    /** Checks everything that can be wrong before anything is measured, and makes the folder for results. */
    public void check() {
        strategies();
        regionBytes();
        try {
            DeviceProbe.checkChoice(device);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
        output.check();
    }

    /** Returns the names of existing strategies, each once. */
    public List<String> strategies() {
        return StrategyNames.of(strategies);
    }

    /** Opens the requested device, or none. */
    public DeviceProbe openDevice() {
        try {
            return DeviceProbe.open(device);
        } catch (final CudaUnavailableException e) {
            throw new WrongUseException("--device=" + device + " must be a GPU that works: " + e.getMessage());
        }
    }

    /** Tells whether the user requested no particular GPU by its number. */
    public boolean mayGoWithoutDevice() {
        return device.equals("none") || device.equals("auto");
    }

    public boolean smallestRegion() {
        return SMALLEST.equals(region);
    }

    /** Returns the requested size of the region, if the user gave one. */
    public OptionalLong regionBytes() {
        return region == null || smallestRegion()
                ? OptionalLong.empty()
                : OptionalLong.of(OptionValue.bytes("--region", region));
    }

    @Nullable
    public Path out() {
        return output.out();
    }

    public OutOfMemory outOfMemory() {
        return outOfMemory;
    }

    public OutputOptions output() {
        return output;
    }

    boolean json() {
        return output.json();
    }
}
