package io.outboard.bench.cli.report;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * This class reads strictly the JSON of result files: one object, whose values are strings, numbers, null, or objects
 * of these values one level down. The grammar is that of RFC 8259 without arrays, booleans and deeper nesting, which no
 * result file has; a key may not occur twice in one object.
 *
 * <p>Confined to one thread.
 */
public final class JsonReader {

    private static final int DEEPEST_LEVEL = 1;

    private final String file;
    private final int firstLine;
    private final String text;
    private int position;

    private JsonReader(final String file, final int firstLine, final String text) {
        this.file = file;
        this.firstLine = firstLine;
        this.text = text;
    }

    /**
     * Reads one object, which only white space may follow.
     *
     * @param file the file's name, for error messages
     * @param firstLine the number of the line on which {@code text} begins, from 1
     * @param text the object
     * @return the object
     * @throws IllegalArgumentException if the text breaks a rule; names file, line, column and rule
     */
    public static JsonObject read(final String file, final int firstLine, final String text) {
        final JsonReader reader = new JsonReader(file, firstLine, text);
        reader.skipWhitespace();
        final JsonObject object = reader.object(0);
        reader.skipWhitespace();
        if (reader.position < text.length()) {
            throw reader.error("nothing may follow the object");
        }
        return object;
    }

    private JsonObject object(final int level) {
        final Map<String, @Nullable Object> members = new LinkedHashMap<>();
        expect('{', "an object must begin with {");
        skipWhitespace();
        if (peek() == '}') {
            position++;
            return new JsonObject(where(), members);
        }
        while (true) {
            skipWhitespace();
            final int keyPosition = position;
            final String key = string("a key must be a string in double quotes");
            if (members.containsKey(key)) {
                position = keyPosition;
                throw error("key \"" + key + "\" must stand only once");
            }
            skipWhitespace();
            expect(':', "a colon must follow the key \"" + key + "\"");
            skipWhitespace();
            members.put(key, value(level));
            skipWhitespace();
            if (peek() == '}') {
                position++;
                return new JsonObject(where(), members);
            }
            expect(',', "a comma or } must follow the value of \"" + key + "\"");
        }
    }

    private @Nullable Object value(final int level) {
        final char first = peek();
        if (first == '"') {
            return string("");
        }
        if (first == '{') {
            if (level == DEEPEST_LEVEL) {
                throw error("objects must not be nested deeper than one level");
            }
            return object(level + 1);
        }
        if (first == '-' || isDigit(first)) {
            return number();
        }
        if (text.startsWith("null", position)) {
            position += "null".length();
            return null;
        }
        throw error("a value must be a string, a number, null or an object");
    }

    private Double number() {
        final int start = position;
        if (peek() == '-') {
            position++;
        }
        if (peek() == '0') {
            position++;
        } else {
            digits();
        }
        if (peek() == '.') {
            position++;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            position++;
            if (peek() == '+' || peek() == '-') {
                position++;
            }
            digits();
        }
        final double number = Double.parseDouble(text.substring(start, position));
        if (Double.isInfinite(number)) {
            position = start;
            throw error("a number must fit into a double");
        }
        return number;
    }

    private void digits() {
        if (!isDigit(peek())) {
            throw error("a digit must stand here");
        }
        while (isDigit(peek())) {
            position++;
        }
    }

    private String string(final String rule) {
        final int start = position;
        expect('"', rule);
        final StringBuilder content = new StringBuilder();
        while (peek() != '"') {
            if (position == text.length()) {
                position = start;
                throw error("a string must end with a double quote");
            }
            final char next = text.charAt(position);
            if (next < ' ') {
                throw error("a control character in a string must be escaped");
            }
            position++;
            content.append(next == '\\' ? escape() : next);
        }
        position++;
        // Half a surrogate pair has no UTF-8 form: the page could not be written.
        if (content.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
            position = start;
            throw error("a string must not hold half of a surrogate pair");
        }
        return content.toString();
    }

    private char escape() {
        final char kind = peek();
        position++;
        switch (kind) {
            case '"':
            case '\\':
            case '/':
                return kind;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                return unicode();
            default:
                position--;
                throw error("a backslash must be followed by one of \" \\ / b f n r t u");
        }
    }

    private char unicode() {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            final char next = peek();
            // The range is checked because Character.digit also accepts digits of other scripts.
            final int digit = next < 128 ? Character.digit(next, 16) : -1;
            if (digit < 0) {
                throw error("\\u must be followed by four hexadecimal digits");
            }
            code = code * 16 + digit;
            position++;
        }
        return (char) code;
    }

    private void expect(final char wanted, final String rule) {
        if (peek() != wanted) {
            throw error(rule);
        }
        position++;
    }

    /**
     * Returns the next character, or NUL at the end. No rule accepts a NUL in the text, so the two cases need not be
     * distinguished.
     */
    private char peek() {
        return position < text.length() ? text.charAt(position) : '\0';
    }

    private void skipWhitespace() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
            position++;
        }
    }

    private String where() {
        return file + ":" + line();
    }

    private int line() {
        return firstLine
                + (int) text.substring(0, position)
                        .chars()
                        .filter(c -> c == '\n')
                        .count();
    }

    private IllegalArgumentException error(final String rule) {
        final int column = position - text.lastIndexOf('\n', position - 1);
        return new IllegalArgumentException(where() + ": column " + column + ": " + rule);
    }

    private static boolean isDigit(final char c) {
        return c >= '0' && c <= '9';
    }
}
