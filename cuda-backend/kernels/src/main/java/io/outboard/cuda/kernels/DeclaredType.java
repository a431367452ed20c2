package io.outboard.cuda.kernels;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A type of objects, as it was declared to an {@link ObjectHeapBuilder}. Immutable.
 *
 * @param name of the type
 * @param base the type that it extends, if it does
 * @param isAbstract whether there are no objects of exactly this type
 * @param ownBytes sizes of the fields that the base doesn't have
 * @param ownNames the names of these fields
 */
record DeclaredType(
        String name, @Nullable DeclaredType base, boolean isAbstract, List<Integer> ownBytes, List<String> ownNames) {

    /** Answers whether the type is another one, or extends it, or a type that does. */
    boolean derivesFrom(final DeclaredType other) {
        return equals(other) || (base != null && base.derivesFrom(other));
    }

    /** Answers the type's last base, and what extends one another from there to the type itself. */
    List<DeclaredType> levels() {
        final List<DeclaredType> levels = base == null ? new ArrayList<>() : base.levels();
        levels.add(this);
        return levels;
    }

    /** Answers the sizes of all fields, the base's first. */
    int[] fieldBytes() {
        return levels().stream()
                .flatMap(level -> level.ownBytes.stream())
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /** Answers the names of all fields, the base's first. */
    List<String> fieldNames() {
        return levels().stream().flatMap(level -> level.ownNames.stream()).toList();
    }
}
