package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.OutboardOption;
import io.outboard.cuda.OutboardOptions;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentOptionsTest {

    @AfterEach
    void clearProperties() {
        OutboardOptions.all().forEach(option -> System.clearProperty(option.property()));
    }

    @Test
    void shouldReadOptions() {
        final AgentOptions options = AgentOptions.parse("strategy=segregated-fit,share=0.5,report,reuse=tracked");

        assertEquals(Map.of("strategy", "segregated-fit", "share", "0.5", "reuse", "tracked"), options.values());
        assertTrue(options.report());
    }

    @Test
    void shouldReadWhatToRedirect() {
        final AgentOptions options = AgentOptions.parse("redirect=a.B:c.D,foreign,share=0.5");

        assertEquals(new AgentOptions(Map.of("share", "0.5"), List.of("a.B", "c.D"), true, false), options);
    }

    /** Paths may have commas. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "record=\"a,b.rec\",report | a,b.rec",
                "report,\"record=a,b.rec\" | a,b.rec",
                "record=a\",\"b.rec,report | a,b.rec",
                "record=\"a\"\"b,c\",report | a\"b,c",
                "record=\"\",report | ''",
            })
    void shouldReadQuotedValues(final String text, final String value) {
        final AgentOptions options = AgentOptions.parse(text);

        assertEquals(Map.of("record", value), options.values());
        assertTrue(options.report());
    }

    @Test
    void shouldDoWithoutOptions() {
        assertEquals(new AgentOptions(Map.of(), List.of(), false, false), AgentOptions.parse(null));
        assertEquals(new AgentOptions(Map.of(), List.of(), false, false), AgentOptions.parse(""));
    }

    @Test
    void shouldSetThePropertiesThatWereGiven() {
        AgentOptions.parse("share=0.25,firstRegion=1G,free=barrier").apply();

        assertEquals("0.25", System.getProperty("outboard.share"));
        assertEquals("1G", System.getProperty("outboard.firstRegion"));
        assertEquals("barrier", System.getProperty("outboard.free"));
        assertNull(System.getProperty("outboard.reuse"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "shere=0.5 | option=shere must be one of: {options}, redirect, foreign, report",
                "report, | option= must be one of: {options}, redirect, foreign, report",
                "share | option=share must have a value: share=...",
                "dumpFolder=/nowhere/at/all | dumpFolder=/nowhere/at/all must be a folder that exists",
                "service=lender | service=lender must be an absolute path of at most 107 bytes",
                "record=/nowhere/at/all | record=/nowhere/at/all must be a file, in a folder that exists",
                "serviceName=a b | serviceName=a b must consist of letters, digits, . _ and -, at most 32",
                "record=\"a,b | option=record=a,b must end with the quotation mark that it begins with",
                "report=yes | report=yes must have no value",
                "foreign=a.B | foreign=a.B must have no value",
                "share=0.5,share=0.6 | option=share must be given once",
                "share=2 | share=2 must be a number > 0 and <= 1",
                "share=much | share=much must be a number > 0 and <= 1",
                "reuse=lax | reuse=lax must be one of: strict, tracked, stream-ordered, immediate",
                "firstRegion=-1 | firstRegion=-1 must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB",
            })
    void shouldNameOptionValueAndRule(final String text, final String message) {
        final IllegalArgumentException thrown = assertThrows(
                IllegalArgumentException.class, () -> AgentOptions.parse(text).apply());

        final String names =
                OutboardOptions.all().stream().map(OutboardOption::name).collect(Collectors.joining(", "));
        assertEquals(message.replace("{options}", names), thrown.getMessage());
    }

    @Test
    void shouldRefuseAnUnknownStrategy() {
        final AgentOptions options = AgentOptions.parse("strategy=magic");

        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, options::apply);

        assertTrue(String.valueOf(thrown.getMessage()).matches("strategy=magic must be one of: .*tlsf.*"));
    }

    @Test
    void shouldNameAPropertyThatWasNotGivenAsAnOption() {
        System.setProperty("outboard.reuse", "lax");
        final AgentOptions options = AgentOptions.parse("share=0.5");

        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, options::apply);

        assertTrue(String.valueOf(thrown.getMessage()).startsWith("outboard.reuse=lax must be"));
    }
}
