package io.outboard.pool;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * This class reads JSON strictly: objects as maps, arrays as lists, whole numbers as longs, and strings; nothing else.
 * Confined to one thread.
 */
public final class Json {

    private final String text;
    private int at;

    private Json(final String text) {
        this.text = text;
    }

    /**
     * Reads one value.
     *
     * @param text JSON
     * @return a map, list, long or string
     * @throws IllegalArgumentException if it isn't JSON, or something follows the value
     */
    public static Object parse(final String text) {
        final Json json = new Json(text);
        final Object value = json.value();
        json.skipSpace();
        if (json.at != text.length()) {
            throw json.wrong("the end");
        }
        return value;
    }

    private Object value() {
        skipSpace();
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            default:
                return number();
        }
    }

    private Map<String, Object> object() {
        final Map<String, Object> members = new LinkedHashMap<>();
        at++;
        if (!skip('}')) {
            do {
                skipSpace();
                final String key = string();
                expect(':');
                if (members.put(key, value()) != null) {
                    throw wrong("another key than " + key);
                }
            } while (skip(','));
            expect('}');
        }
        return members;
    }

    private List<Object> array() {
        final List<Object> elements = new ArrayList<>();
        at++;
        if (!skip(']')) {
            do {
                elements.add(value());
            } while (skip(','));
            expect(']');
        }
        return elements;
    }

    private String string() {
        expect('"');
        final StringBuilder string = new StringBuilder();
        while (peek() != '"') {
            char c = text.charAt(at++);
            if (c < ' ') {
                throw wrong("no control character");
            }
            if (c == '\\') {
                c = text.charAt(at++);
                if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                    at += 4;
                } else if (c != '"' && c != '\\') {
                    throw wrong("an escape");
                }
            }
            string.append(c);
        }
        at++;
        return string.toString();
    }

    private Long number() {
        final int start = at;
        while (at < text.length() && (text.charAt(at) == '-' || Character.isDigit(text.charAt(at)))) {
            at++;
        }
        return Long.parseLong(text.substring(start, at));
    }

    private char peek() {
        if (at == text.length()) {
            throw wrong("more");
        }
        return text.charAt(at);
    }

    private boolean skip(final char c) {
        skipSpace();
        if (peek() != c) {
            return false;
        }
        at++;
        return true;
    }

    private void expect(final char c) {
        if (!skip(c)) {
            throw wrong("a " + c);
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \n\r\t".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException wrong(final String expected) {
        return new IllegalArgumentException("expected " + expected + " at " + at + " of " + text);
    }
}
