package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanTest {

    private static final String HEADER =
            "outboard plan 1\ngranuleBytes,256\nregionBytes,1024\nblocks,2\nsizeBytes,offsetBytes,start,end\n";

    @TempDir
    private Path folder;

    @Test
    void shouldReadWhatItWrote() throws Exception {
        final Path file = folder.resolve("plan");
        final List<Plan.Block> blocks =
                List.of(new Plan.Block(300, 512, 0, 3), new Plan.Block(512, 0, 1, 2), new Plan.Block(512, 0, 2, 4));

        Plan.write(256, 1024, blocks, file);
        final Plan plan = Plan.read(file);

        assertEquals(3, plan.blocks());
        assertEquals(256, plan.granuleBytes());
        assertEquals(1024, plan.regionBytes());
        assertEquals("3 blocks in 1024 bytes, granule 256", plan.toString());
        assertArrayEquals(Plan.of(256, 1024, blocks).records(), plan.records());
        // A record has the block's size, its offset, what is in use before it, and its number. The last one has size 0.
        assertArrayEquals(new int[] {2, 2, -1, -1, 2, 0, -1, -1, 2, 0, -1, -1, 0, 0, 0, 0}, plan.records());
    }

    @Test
    void shouldKnowWhatIsInUseBeforeABlock() {
        final Plan plan = Plan.of(
                1,
                8,
                List.of(
                        new Plan.Block(2, 0, 0, 9),
                        new Plan.Block(2, 2, 1, 3),
                        new Plan.Block(1, 6, 2, 9),
                        new Plan.Block(2, 3, 4, 9)));

        assertEquals(0, plan.records()[Plan.RECORD_INTS + Plan.BEFORE]);
        assertEquals(2, plan.records()[2 * Plan.RECORD_INTS + Plan.BEFORE]);
        assertEquals(1, plan.records()[2 * Plan.RECORD_INTS + Plan.NUMBER_BEFORE]);
        assertEquals(0, plan.records()[3 * Plan.RECORD_INTS + Plan.BEFORE]);
        assertEquals(0, plan.records()[3 * Plan.RECORD_INTS + Plan.NUMBER_BEFORE]);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'0,0,0,1;256,0,1,2' | line 6: sizeBytes=0 must be > 0 and <= regionBytes, 1024",
                "'2000,0,0,1;256,0,1,2' | line 6: sizeBytes=2000 must be > 0 and <= regionBytes, 1024",
                "'256,0,0,1;256,100,1,2' | line 7: offsetBytes=100 must be >= 0 and a multiple of 256",
                "'256,0,0,1;512,768,1,2' | "
                        + "line 7: offsetBytes=768 must be <= 512, so that sizeBytes=512 end in the region of 1024",
                "'256,0,1,2;256,256,1,3' | line 7: start=1 must be > 1, that of the block before",
                "'256,0,1,1;256,256,2,3' | line 6: end=1 must be > start, 1",
                "'300,0,0,2;256,256,1,2' | "
                        + "line 7: offsetBytes=256, sizeBytes=256 must not overlap what lives with it, "
                        + "and does block 0 at 0",
                "'256,256,0,2;300,0,1,2' | "
                        + "line 7: offsetBytes=0, sizeBytes=300 must not overlap what lives with it, "
                        + "and does block 0 at 256",
                "'256,0,0,1' | line 4: blocks=2 must be the lines that follow line 5, 1",
                "'256,0,0,1;256,0,1' | line 7: fields=3 must be 4: sizeBytes,offsetBytes,start,end",
                "'256,0,0,1;256,x,1,2' | line 7: offsetBytes=x must be a whole number from 0 to 9223372036854775807",
                "'256,0,0,1;256,0,1,3000000000' | line 7: end=3000000000 must be a whole number from 0 to 2147483647",
            })
    void shouldRefuseWhatIsWrongInAFile(final String blocks, final String message) throws Exception {
        final Path file = Files.writeString(folder.resolve("plan"), HEADER + blocks.replace(";", "\n") + "\n");

        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, () -> Plan.read(file));

        assertEquals(file + ", " + message, thrown.getMessage());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | line 1: it must be \"outboard plan 1\", and is \"\"",
                "'Thread,Time,Action,Pointer,Size,Stream,and,more' | "
                        + "line 1: it must be \"outboard plan 1\", and is \"Thread,Time,Action,Pointer,Size,Stream,a\"",
                "'outboard plan 1' | line 2: it must be \"granuleBytes,\" and a number",
                "'outboard plan 1;granuleBytes,256;regionBytes,1024;blocks,-1' | "
                        + "line 4: blocks=-1 must be a whole number from 0 to 9223372036854775807",
                "'outboard plan 1;granuleBytes,256;regionBytes,1024;blocks,0;size' | "
                        + "line 5: it must be \"sizeBytes,offsetBytes,start,end\"",
                "'outboard plan 1;granuleBytes,100;regionBytes,1024;blocks,0;sizeBytes,offsetBytes,start,end' | "
                        + "granuleBytes=100 must be a power of two from 1 to 2^30",
                "'outboard plan 1;granuleBytes,1;regionBytes,2147483648;blocks,0;sizeBytes,offsetBytes,start,end' | "
                        + "regionBytes=2147483648 must be > 0 and at most 2^31 - 1 granules of 1 bytes",
            })
    void shouldRefuseWhatIsNoPlan(final String text, final String message) throws Exception {
        final Path file = Files.writeString(folder.resolve("plan"), text.replace(";", "\n"));

        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, () -> Plan.read(file));

        assertEquals(file + ", " + message, thrown.getMessage());
    }

    @Test
    void shouldRefuseWhatIsNoText() throws Exception {
        final Path file = Files.write(folder.resolve("plan"), new byte[] {(byte) 0xFF, (byte) 0xFE, 0});

        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, () -> Plan.read(file));

        assertEquals(file + ", line 1: it must be \"outboard plan 1\", and is no text", thrown.getMessage());
        assertThrows(NoSuchFileException.class, () -> Plan.read(folder.resolve("none")));
    }

    @Test
    void shouldWriteNoWrongPlan() {
        final Path file = folder.resolve("plan");
        final List<Plan.Block> blocks = List.of(new Plan.Block(300, 0, 0, 2), new Plan.Block(1, 256, 1, 3));

        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Plan.write(256, 1024, blocks, file));

        assertEquals(
                "block 1: offsetBytes=256, sizeBytes=1 must not overlap what lives with it, " + "and does block 0 at 0",
                thrown.getMessage());
        assertFalse(Files.exists(file));
    }

    /** The plan's memory counts. Otherwise, a plan of a million blocks would seem to cost nothing. */
    @Test
    void shouldBePartOfTheHostMemoryOfWhoFollowsIt() {
        final Plan plan = Plan.of(256, 1024, List.of(new Plan.Block(256, 0, 0, 2), new Plan.Block(512, 256, 1, 3)));
        final Region region = new Region(0, 4096);
        final StrategyOptions options = StrategyOptions.DEFAULTS.withMaxBlocks(16);

        assertEquals(
                new TlsfStrategy(region, options).hostBytes() + 16 + 3 * 16,
                new PlannedStrategy(region, options, plan).hostBytes());
    }
}
