package io.outboard.cuda.kernels;

import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A field of the objects of an {@link ObjectHeap}, as {@code OUTBOARD_FIELDS} declares it for kernels. Immutable, so
 * safe for any number of threads.
 *
 * @param name as in the kernels' declaration
 * @param bytes {@code sizeof} the field's type, from 1 to 1024
 */
public record ObjectField(String name, int bytes) {

    private static final int MOST_BYTES = 1024;

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** The functions that all objects have in kernels, so that no field can have their names. */
    private static final Set<String> TAKEN = Set.of("id", "get", "is", "as");

    /**
     * Makes a field.
     *
     * @param name as in the kernels' declaration
     * @param bytes {@code sizeof} the field's type, from 1 to 1024
     * @throws IllegalArgumentException if the name is no C++ identifier of letters, digits and {@code _}, or is that of
     *     a function of all objects: {@code id}, {@code get}, {@code is} or {@code as}; or if {@code bytes} is outside
     *     of its range
     */
    public ObjectField {
        Objects.requireNonNull(name, "name");
        if (!IDENTIFIER.matcher(name).matches() || TAKEN.contains(name)) {
            throw new IllegalArgumentException(
                    "name=" + name + " must be a C++ identifier other than id, get, is and as");
        }
        if (bytes < 1 || bytes > MOST_BYTES) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be from 1 to " + MOST_BYTES);
        }
    }

    /**
     * Makes a field: the constructor under a name that reads well in a list of fields.
     *
     * @param name as in the kernels' declaration
     * @param bytes {@code sizeof} the field's type, from 1 to 1024
     * @return the field
     * @throws IllegalArgumentException as the constructor
     */
    public static ObjectField field(final String name, final int bytes) {
        return new ObjectField(name, bytes);
    }
}
