import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * What a release has put into a folder: {@code java .ci/ReleaseCheck.java FOLDER [SECOND_FOLDER]}, from the root of the
 * checkout. The second is that of another build, and must have the same files byte for byte. Prints what is wrong, a
 * line each, and exits with 1; with 0 if nothing is.
 */
final class ReleaseCheck {

    private static final Path GROUP = Path.of("io", "outboard");
    private static final XPath XPATH = XPathFactory.newInstance().newXPath();
    private static final List<String> REQUIRED =
            List.of("description", "url", "licenses/license/url", "developers/developer/name", "scm/connection", "scm/url");

    /** A module of the checkout: its folder, its pom. */
    private record Module(Path folder, Document pom) {

        String name() {
            return text(pom, "artifactId");
        }

        boolean isJar() {
            return text(pom, "packaging").isEmpty();
        }

        boolean isPublished() {
            return !text(pom, "properties/outboard.unpublished").equals("true");
        }

        /** What lies under a folder of sources: paths relative to it, with slashes. */
        Set<String> sources(final String under) throws IOException {
            final Path root = folder.resolve(under);
            final Set<String> files = new TreeSet<>();
            if (Files.isDirectory(root)) {
                try (Stream<Path> all = Files.walk(root)) {
                    all.filter(Files::isRegularFile).forEach(file -> files.add(relative(root, file)));
                }
            }
            return files;
        }
    }

    private final List<String> faults = new ArrayList<>();
    private final Path release;
    private final Document parent = parse(Path.of("pom.xml"));
    private final String version = text(parent, "version");
    private final byte[] licence = Files.readAllBytes(Path.of("LICENSE"));

    private ReleaseCheck(final Path release) throws IOException {
        this.release = release;
    }

    public static void main(final String[] arguments) throws IOException {
        if (arguments.length < 1 || arguments.length > 2) {
            System.err.println("usage: java .ci/ReleaseCheck.java FOLDER [SECOND_FOLDER]");
            System.exit(2);
        }
        final ReleaseCheck check = new ReleaseCheck(Path.of(arguments[0]));
        check.run();
        if (arguments.length == 2) {
            check.compare(Path.of(arguments[1]));
        }
        check.faults.forEach(fault -> System.out.println("release: " + fault));
        if (!check.faults.isEmpty()) {
            System.exit(1);
        }
        System.out.println("release: " + arguments[0] + " is complete");
    }

    private void run() throws IOException {
        final List<Module> modules = new ArrayList<>();
        final List<String> built = new ArrayList<>(texts(parent, "modules/module"));
        built.addAll(texts(parent, "profiles/profile[id='spark']/modules/module"));
        for (final String folder : built) {
            modules.add(new Module(Path.of(folder), parse(Path.of(folder, "pom.xml"))));
        }
        final Set<String> expected = new TreeSet<>(Set.of(text(parent, "artifactId")));
        final Set<String> jars = new TreeSet<>();
        final Set<String> versioned = new TreeSet<>();
        for (final Module module : modules) {
            if (module.isPublished()) {
                expected.add(module.name());
                if (module.isJar()) {
                    jars.add(module.name());
                }
                module.sources("src/main/java22").forEach(source -> versioned.add(source.replace(".java", "")));
            }
        }
        final Set<String> found = new TreeSet<>();
        try (Stream<Path> folders = Files.list(release.resolve(GROUP))) {
            folders.forEach(folder -> found.add(folder.getFileName().toString()));
        }
        if (!found.equals(expected)) {
            faults.add("modules must be " + expected + ", but are " + found);
        }
        checkPages();
        for (final Module module : modules) {
            if (module.isPublished() && found.contains(module.name())) {
                checkPom(module);
                if (module.isJar()) {
                    checkJars(module, versioned);
                } else {
                    checkVersions(module, jars);
                }
            }
        }
    }

    /** A page of each folder of results that has a file of the four kinds with a page of their own. */
    private void checkPages() throws IOException {
        try (Stream<Path> folders = Files.list(Path.of("bench", "results"))) {
            for (final Path folder : folders.toList()) {
                final boolean hasPage = Stream.of("results", "kernels", "programs", "check")
                        .anyMatch(kind -> Files.exists(folder.resolve(kind + ".jsonl")));
                final Path page = release.resolve("pages").resolve(folder.getFileName() + ".html");
                require(!hasPage || Files.isRegularFile(page), page + " must be there");
            }
        }
    }

    private void checkPom(final Module module) throws IOException {
        final Path file = file(module, ".pom");
        if (file == null) {
            return;
        }
        final Document pom = parse(file);
        require(!text(pom, "name").isEmpty(), file + " must have a name");
        for (final String element : REQUIRED) {
            require(
                    !text(pom, element).isEmpty() || !text(pom, "parent").isEmpty() && !text(parent, element).isEmpty(),
                    file + " or its parent must have " + element);
        }
    }

    private void checkJars(final Module module, final Set<String> versioned) throws IOException {
        file(module, "-cyclonedx.json");
        final Path folder = release.resolve(GROUP).resolve(module.name()).resolve(version);
        try (Stream<Path> files = Files.list(folder)) {
            for (final Path jar : files.filter(file -> file.toString().endsWith(".jar")).toList()) {
                try (JarFile content = new JarFile(jar.toFile())) {
                    require(
                            content.getEntry("META-INF/LICENSE") != null
                                    && Arrays.equals(licence, bytes(content, "META-INF/LICENSE")),
                            jar + " must have LICENSE in META-INF");
                }
            }
        }
        final Path classes = file(module, ".jar");
        final Path sources = file(module, "-sources.jar");
        final Path javadoc = file(module, "-javadoc.jar");
        final boolean isAgent = module.name().equals("outboard-agent");
        final Set<String> own = module.sources("src/main/java22");
        if (classes != null) {
            try (JarFile content = new JarFile(classes.toFile())) {
                for (final String source : module.sources("src/main/java")) {
                    requireEntry(classes, content, source.replace(".java", ".class"));
                }
                if (!module.sources("src/main/module").isEmpty()) {
                    requireEntry(classes, content, "module-info.class");
                }
                // The agent has the classes of all others.
                for (final String each : isAgent ? versioned : own.stream().map(s -> s.replace(".java", "")).toList()) {
                    requireEntry(classes, content, "META-INF/versions/22/" + each + ".class");
                    require(content.isMultiRelease(), classes + " must be a multi-release jar");
                }
            }
        }
        if (sources != null) {
            try (JarFile content = new JarFile(sources.toFile())) {
                for (final String source : module.sources("src/main/java")) {
                    requireEntry(sources, content, source);
                }
                for (final String source : own) {
                    requireEntry(sources, content, "META-INF/versions/22/" + source);
                }
            }
        }
        if (javadoc != null) {
            try (JarFile content = new JarFile(javadoc.toFile())) {
                requireEntry(javadoc, content, "index.html");
                require(
                        content.stream().anyMatch(entry -> entry.getName().endsWith("/package-summary.html")),
                        javadoc + " must describe a package");
            }
        }
    }

    /** The list of versions has all jars, with the version of this release, and nothing else. */
    private void checkVersions(final Module module, final Set<String> jars) throws IOException {
        final Path file = file(module, ".pom");
        if (file == null) {
            return;
        }
        final Document pom = parse(file);
        final Set<String> listed = new TreeSet<>(texts(pom, "dependencyManagement/dependencies/dependency/artifactId"));
        require(listed.equals(jars), file + " must list " + jars + ", but lists " + listed);
        require(text(pom, "parent").isEmpty(), file + " must have no parent, whose dependency management it would have");
        for (final String each : texts(pom, "dependencyManagement/dependencies/dependency/version")) {
            require(each.equals("${project.version}") || each.equals(version), file + " must list " + version);
        }
        require(text(pom, "version").equals(version), file + " must be of version " + version);
    }

    /** The second build's files, for each name without the time at which a snapshot was put there. */
    private void compare(final Path second) throws IOException {
        final Map<String, Path> first = files(release);
        final Map<String, Path> others = files(second);
        require(first.keySet().equals(others.keySet()), second + " must have the same files as " + release);
        for (final Map.Entry<String, Path> each : first.entrySet()) {
            final Path other = others.get(each.getKey());
            if (other != null && Files.mismatch(each.getValue(), other) >= 0) {
                faults.add(other + " must be equal to " + each.getValue());
            }
        }
    }

    private Map<String, Path> files(final Path root) throws IOException {
        final Map<String, Path> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            all.filter(file -> file.toString().matches(".*\\.(jar|pom|json)"))
                    .forEach(file -> files.put(relative(root, file).replaceAll("-\\d{8}\\.\\d{6}-\\d+", ""), file));
        }
        return files;
    }

    /** The newest file of a module with such an end; null, and a fault, if there is none. */
    private Path file(final Module module, final String end) throws IOException {
        final Path folder = release.resolve(GROUP).resolve(module.name()).resolve(version);
        // A snapshot has the time in its place.
        final String name = module.name() + "-" + version.replace("-SNAPSHOT", "") + "(-SNAPSHOT|-\\d{8}\\.\\d{6}-\\d+)?" + end;
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                final Path file = files.filter(each -> each.getFileName().toString().matches(name))
                        .sorted()
                        .reduce(null, (before, each) -> each);
                if (file != null) {
                    return file;
                }
            }
        }
        faults.add(folder + " must have " + module.name() + "-VERSION" + end);
        return null;
    }

    private void requireEntry(final Path jar, final JarFile content, final String name) {
        require(content.getEntry(name) != null, jar + " must have " + name);
    }

    private void require(final boolean condition, final String fault) {
        if (!condition) {
            faults.add(fault);
        }
    }

    private static byte[] bytes(final JarFile jar, final String name) throws IOException {
        try (InputStream in = jar.getInputStream(jar.getEntry(name))) {
            return in.readAllBytes();
        }
    }

    private static String relative(final Path root, final Path file) {
        return root.relativize(file).toString().replace('\\', '/');
    }

    private static Document parse(final Path file) {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        } catch (final Exception e) {
            throw new IllegalStateException("file=" + file + " must be a pom", e);
        }
    }

    private static String text(final Document pom, final String path) {
        final List<String> all = texts(pom, path);
        return all.isEmpty() ? "" : all.get(0);
    }

    private static List<String> texts(final Document pom, final String path) {
        try {
            final NodeList nodes =
                    (NodeList) XPATH.evaluate("/project/" + path, (Node) pom, XPathConstants.NODESET);
            final List<String> texts = new ArrayList<>();
            for (int i = 0; i < nodes.getLength(); i++) {
                texts.add(nodes.item(i).getTextContent().strip());
            }
            return texts;
        } catch (final Exception e) {
            throw new IllegalArgumentException("path=" + path, e);
        }
    }
}
