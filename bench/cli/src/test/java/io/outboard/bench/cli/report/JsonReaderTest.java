package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.*;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonReaderTest {

    @Test
    void shouldReadStringsNumbersNullsAndOneLevelOfObjects() {
        final JsonObject object = read(" { \"a\" : \"x\" , \"b\":-1.5e3,\"c\":null,\"d\":{\"e\":7},\"f\":{} }\n");

        assertEquals(List.of("a", "b", "c", "d", "f"), List.copyOf(object.keys()));
        assertEquals("x", object.text("a"));
        assertEquals(-1500, object.number("b"));
        assertEquals("-1500", object.text("b"));
        assertTrue(Double.isNaN(object.number("c")));
        assertEquals("", object.text("c"));
        assertEquals(7, object.object("d").number("e"));
    }

    @Test
    void shouldTakeAnAbsentKeyForOneThatIsNull() {
        final JsonObject object = read("{}");

        assertEquals("", object.text("a"));
        assertTrue(Double.isNaN(object.number("a")));
        assertTrue(Double.isNaN(object.object("a").number("b")));
    }

    @Test
    void shouldDecodeEscapes() {
        final JsonObject object = read("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00b5\\uD83D\\uDE00\"}");

        assertEquals("\"\\/\b\f\n\r\t\u00B5\uD83D\uDE00", object.text("a"));
    }

    @Test
    void shouldReadBackWhatTheEscaperWrites() {
        final String text = "\u0000\u001F\"\\</script>&\u2028\uD83D\uDE00\u00FC";

        assertEquals(text, read("{\"a\":" + Html.json(text) + "}").text("a"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            ``                      | 1: an object must begin with {
            []                      | 1: an object must begin with {
            {                       | 2: a key must be a string
            {"a"}                   | 5: a colon must follow the key "a"
            {"a":1,}                | 8: a key must be a string
            {"a":1 "b":2}           | 8: a comma or } must follow the value of "a"
            {"a":1,"a":2}           | 8: key "a" must stand only once
            {"a":true}              | 6: a value must be a string, a number, null or an object
            {"a":[1]}               | 6: a value must be a string, a number, null or an object
            {"a":NaN}               | 6: a value must be a string, a number, null or an object
            {"a":{"b":{}}}          | 11: objects must not be nested deeper than one level
            {"a":01}                | 7: a comma or } must follow
            {"a":1.}                | 8: a digit must stand here
            {"a":-}                 | 7: a digit must stand here
            {"a":1e999}             | 6: a number must fit into a double
            {"a":"x}                | 6: a string must end with a double quote
            {"a":"\\x"}             | 8: a backslash must be followed by
            {"a":"\\u12g4"}         | 11: \\u must be followed by four hexadecimal digits
            {"a":"\\uD83D"}         | 6: a string must not hold half of a surrogate pair
            {"a":"\t"}              | 7: a control character in a string must be escaped
            {}{}                    | 3: nothing may follow the object
            """)
    void shouldNameFileLineColumnAndRule(final String text, final String message) {
        final String actual = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> read(text)).getMessage());

        assertTrue(actual.startsWith("f.json:3: column " + message), actual);
    }

    @Test
    void shouldSayWhatAValueOfTheWrongKindMustBe() {
        final JsonObject object = read("{\"a\":{},\"b\":\"1\"}");

        assertEquals(
                "f.json:3: key \"a\" must be a string",
                assertThrows(IllegalArgumentException.class, () -> object.text("a"))
                        .getMessage());
        assertEquals(
                "f.json:3: key \"b\" must be a number or null",
                assertThrows(IllegalArgumentException.class, () -> object.number("b"))
                        .getMessage());
        assertEquals(
                "f.json:3: key \"b\" must be an object or null",
                assertThrows(IllegalArgumentException.class, () -> object.object("b"))
                        .getMessage());
    }

    private static JsonObject read(final String text) {
        return JsonReader.read("f.json", 3, text);
    }
}
