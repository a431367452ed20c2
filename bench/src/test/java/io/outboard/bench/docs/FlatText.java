package io.outboard.bench.docs;

/** A flat text has single blanks for all white space, so that it is the same however lines are broken. */
final class FlatText {

    private final String text;

    /** The position of each character in the original. */
    private final int[] positions;

    FlatText(final String original) {
        final StringBuilder flat = new StringBuilder();
        positions = new int[original.length()];
        for (int i = 0; i < original.length(); i++) {
            final boolean isBlank = Character.isWhitespace(original.charAt(i));
            if (!isBlank || (flat.length() > 0 && flat.charAt(flat.length() - 1) != ' ')) {
                positions[flat.length()] = i;
                flat.append(isBlank ? ' ' : original.charAt(i));
            }
        }
        text = flat.toString();
    }

    String text() {
        return text;
    }

    int original(final int position) {
        return positions[position];
    }
}
