package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Finds knots: classes of one package that know each other in a circle, so that a reader of one needs all. Up to five
 * classes are one idea in several files; larger knots should be divided. Nested classes count as the class that they
 * are in.
 */
class KnotsTest {

    private static final int MOST_CLASSES = 5;

    @Test
    void shouldHaveNoKnots() throws IOException {
        final List<Set<String>> large = knownByPackage().values().stream()
                .flatMap(known -> knots(known).stream())
                .filter(knot -> knot.size() > MOST_CLASSES)
                .toList();

        assertEquals(List.of(), large);
    }

    /** Finds, by package, the classes, and which classes of the same package each of them knows. */
    private static Map<String, Map<String, Set<String>>> knownByPackage() throws IOException {
        final Map<String, Map<String, Set<String>>> packages = new TreeMap<>();
        for (final JavaClass any : new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.outboard")) {
            final String ofPackage = any.getPackageName() + ".";
            final String outermost = any.getName().substring(ofPackage.length()).replaceFirst("\\$.*", "");
            final Set<String> known = packages.computeIfAbsent(any.getPackageName(), name -> new TreeMap<>())
                    .computeIfAbsent(outermost, name -> new HashSet<>());
            Pattern.compile(ofPackage.replace('.', '/') + "(\\w++)(?!/)")
                    .matcher(fileOf(any))
                    .results()
                    .forEach(name -> known.add(name.group(1)));
        }
        return packages;
    }

    /**
     * Reads the file of a class. The file names all classes that the class knows, even one of which only a constant was
     * compiled in.
     */
    private static String fileOf(final JavaClass any) throws IOException {
        try (InputStream file = any.getSource().orElseThrow().getUri().toURL().openStream()) {
            return new String(file.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    /** Finds the sets of classes each of which leads to all others of its set. */
    private static List<Set<String>> knots(final Map<String, Set<String>> known) {
        final List<Set<String>> knots = new ArrayList<>();
        final Set<String> left = new TreeSet<>(known.keySet());
        while (!left.isEmpty()) {
            final String any = left.iterator().next();
            final Set<String> knot = new TreeSet<>(reachedFrom(any, known));
            knot.removeIf(other -> !reachedFrom(other, known).contains(any));
            knot.add(any);
            knots.add(knot);
            left.removeAll(knot);
        }
        return knots;
    }

    private static Set<String> reachedFrom(final String from, final Map<String, Set<String>> known) {
        final Set<String> reached = new HashSet<>();
        final List<String> open = new ArrayList<>(List.of(from));
        while (!open.isEmpty()) {
            for (final String to : known.getOrDefault(open.remove(open.size() - 1), Set.of())) {
                if (reached.add(to)) {
                    open.add(to);
                }
            }
        }
        return reached;
    }
}
