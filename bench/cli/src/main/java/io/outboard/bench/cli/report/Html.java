package io.outboard.bench.cli.report;

/** This class escapes text for the two languages that the page embeds it in. */
public final class Html {

    /** The text of a cell without a measured value, an en dash. */
    public static final String NONE = "\u2013";

    private static final char REPLACEMENT = '\uFFFD';

    private Html() {}

    /** Escapes text for an element's content or a quoted attribute. */
    public static String escape(final String text) {
        final StringBuilder escaped = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            final char c = text.charAt(i);
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append(c < ' ' && c != '\n' && c != '\t' ? REPLACEMENT : c);
            }
        }
        return escaped.toString();
    }

    /**
     * Makes a JSON string that can stand inside a script element: nothing in it can close the element or open a
     * comment.
     *
     * @param text the content
     * @return the string with its quotes
     */
    public static String json(final String text) {
        final StringBuilder json = new StringBuilder(text.length() + 16).append('"');
        for (int i = 0; i < text.length(); i++) {
            final char c = text.charAt(i);
            if (c < ' ' || c == '<' || c == '>' || c == '&' || c == '\u2028' || c == '\u2029') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                if (c == '"' || c == '\\') {
                    json.append('\\');
                }
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    /**
     * Makes a JSON array.
     *
     * @param numbers the elements; NaN becomes null
     * @return the array
     */
    public static String json(final double[] numbers) {
        final StringBuilder json = new StringBuilder(numbers.length * 8).append('[');
        for (int i = 0; i < numbers.length; i++) {
            json.append(i == 0 ? "" : ",").append(number(numbers[i]));
        }
        return json.append(']').toString();
    }

    /** Formats a number as short as it can be written exactly; "null" for NaN. */
    public static String number(final double number) {
        if (Double.isNaN(number)) {
            return "null";
        }
        return number == Math.rint(number) && Math.abs(number) < 1e15
                ? Long.toString((long) number)
                : Double.toString(number);
    }
}
