package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the launcher in a checkout with a build and a Java that only report that they ran. */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {

    /** The programs that the launcher calls, from which a test may leave some out. */
    private static final List<String> TOOLS = List.of(
            "sh",
            "cat",
            "cut",
            "dirname",
            "find",
            "flock",
            "head",
            "kill",
            "mkdir",
            "mv",
            "readlink",
            "rm",
            "sleep",
            "stty");

    private static final long PATIENCE_SECONDS = 60;

    @TempDir
    private Path folder;

    private Path root = Path.of("");
    private Path tools = Path.of("");
    private Path builds = Path.of("");

    private record Ended(int exitCode, String out, String err) {}

    private final class Started {

        private final Process process;
        private final Path out;
        private final Path err;

        Started(final List<String> command) throws IOException {
            out = Files.createTempFile(folder, "out", "");
            err = Files.createTempFile(folder, "err", "");
            final ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            final Map<String, String> environment = builder.environment();
            environment.put("JAVA_HOME", folder.resolve("jdk").toString());
            environment.put("PATH", tools.toString());
            environment.remove("OUTBOARD_JAVA_OPTIONS");
            process = builder.start();
        }

        Ended end() throws IOException, InterruptedException {
            assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "it must end");
            return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
        }
    }

    @BeforeEach
    void makeCheckout() throws IOException {
        root = Files.createDirectory(folder.resolve("checkout"));
        builds = folder.resolve("builds");
        Files.copy(Path.of("../outboard"), root.resolve("outboard"));
        executable(root.resolve("outboard"), Files.readString(Path.of("../outboard")));
        executable(root.resolve("mvnw"), """
                #!/bin/sh
                echo "$@" >>'%s'
                mkdir -p bench/target/lib
                : >bench/target/outboard-bench-1.jar
                """.formatted(builds));
        Files.writeString(Files.createDirectories(root.resolve("bench")).resolve("pom.xml"), "");
        executable(Files.createDirectories(folder.resolve("jdk/bin")).resolve("java"), """
                #!/bin/sh
                for last; do :; done
                [ -d '%s/bench/target/lib' ] && echo "ran $last"
                """.formatted(root));
        tools = Files.createDirectory(folder.resolve("tools"));
        for (final String tool : TOOLS) {
            for (final String place : List.of("/usr/bin", "/bin")) {
                final Path file = Path.of(place, tool);
                if (Files.exists(file) && !Files.exists(tools.resolve(tool))) {
                    Files.createSymbolicLink(tools.resolve(tool), file);
                }
            }
        }
        commit("echo 0123456789abcdef");
    }

    private static void executable(final Path file, final String text) throws IOException {
        Files.writeString(file, text);
        assertTrue(file.toFile().setExecutable(true, false));
    }

    /** Makes a git that runs a shell command. */
    private void commit(final String command) throws IOException {
        executable(tools.resolve("git"), "#!/bin/sh\n" + command + "\n");
    }

    private Started start(final String... arguments) throws IOException {
        final List<String> command =
                new ArrayList<>(List.of(root.resolve("outboard").toString()));
        command.addAll(List.of(arguments));
        return new Started(command);
    }

    private Ended run() throws IOException, InterruptedException {
        return start("strategies").end();
    }

    private long builds() throws IOException {
        return Files.exists(builds) ? Files.readAllLines(builds).size() : 0;
    }

    @Test
    void shouldSayThatItBuildsOnceWhereThereIsNoTerminal() throws Exception {
        final Ended first = run();
        final Ended second = run();

        assertEquals(new Ended(0, "ran strategies\n", "outboard: building, once ...\n"), first);
        assertEquals(new Ended(0, "ran strategies\n", ""), second);
        assertEquals(1, builds());
    }

    /** Otherwise a busy machine's compiler is late, and code that isn't compiled yet is measured. */
    @Test
    void shouldLetTheCompilerComeFirstWhereStrategiesAreMeasured() throws Exception {
        run();
        executable(folder.resolve("jdk/bin/java"), "#!/bin/sh\necho \"$1\"\n");

        for (final String measuring : List.of("advise", "malloc-large", "replay")) {
            assertEquals("-Xbatch\n", start(measuring, "x").end().out());
        }
        assertEquals("--enable-native-access=ALL-UNNAMED\n", run().out());
    }

    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldBuildOnceForTwoFirstStartsAtOnce(final boolean flock) throws Exception {
        if (!flock) {
            Files.deleteIfExists(tools.resolve("flock"));
        }
        final Path mvnw = root.resolve("mvnw");
        executable(mvnw, Files.readString(mvnw).replace("mkdir", "sleep 1\nmkdir"));
        final List<Started> both = List.of(start("one"), start("two"));
        final Ended first = both.get(0).end();
        final Ended second = both.get(1).end();

        assertEquals(0, first.exitCode(), first.err());
        assertEquals(0, second.exitCode(), second.err());
        assertEquals("ran one\n", first.out());
        assertEquals("ran two\n", second.out());
        assertEquals(1, builds());
        final String said = first.err() + second.err();
        assertTrue(said.contains("outboard: waiting for a build that runs already"), said);
    }

    /** The lock is from a shell that was killed. */
    @Test
    void shouldTakeALockThatNobodyHoldsAnyMore() throws Exception {
        Files.deleteIfExists(tools.resolve("flock"));
        final Path lock = Files.createDirectories(root.resolve("bench/target/launcher.lock.d"));
        final Process gone = new ProcessBuilder("sh", "-c", "exit 0").start();
        gone.waitFor();
        Files.writeString(lock.resolve("pid"), gone.pid() + "\n");

        assertEquals("ran strategies\n", run().out());
        assertFalse(Files.exists(lock));
    }

    @Test
    void shouldNameTheLogOfABuildThatFailsAndBuildAgainTheNextTime() throws Exception {
        final String mvnw = Files.readString(root.resolve("mvnw"));
        executable(root.resolve("mvnw"), "#!/bin/sh\nexit 1\n");

        final Ended failed = run();

        assertEquals(1, failed.exitCode());
        assertTrue(
                failed.err().endsWith("outboard: the build failed, see " + root + "/bench/target/launcher-build.log\n"),
                failed.err());
        executable(root.resolve("mvnw"), mvnw);
        assertEquals("ran strategies\n", run().out());
    }

    @Test
    void shouldBuildAgainForAnotherCommit() throws Exception {
        run();
        commit("echo fedcba9876543210");

        run();

        assertEquals(2, builds());
    }

    @Test
    void shouldMakeKernelsForTheCommandThatNeedsThem() throws Exception {
        final String kernels = "outboard: making kernels, some minutes the first time ...\n";
        executable(tools.resolve("nvcc"), "#!/bin/sh\n");
        // The command ends before it needs kernels, since there is no driver.
        assertFalse(start("kernels").end().err().contains(kernels));
        executable(tools.resolve("nvidia-smi"), "#!/bin/sh\n");
        final Path script = root.resolve("cuda-backend/ptx.sh");
        Files.createDirectory(root.resolve("cuda-backend"));
        executable(script, "#!/bin/sh\nexit 1\n");
        assertEquals(0, start("kernels", "--help").end().exitCode());
        assertEquals(1, start("kernels").end().exitCode());

        executable(script, "#!/bin/sh\n[ \"$*\" = --all ]\n");

        assertTrue(start("kernels").end().err().endsWith(kernels));
        assertEquals(new Ended(0, "ran kernels\n", ""), start("kernels").end());
        assertEquals(new Ended(0, "ran strategies\n", ""), start("strategies").end());
        assertEquals(2, builds());
    }

    @Test
    void shouldRunWithoutNvcc() throws Exception {
        assertEquals(
                new Ended(0, "ran kernels\n", "outboard: building, once ...\n"),
                start("kernels").end());
    }

    /** Without a new build, growth in place and leases would be missing. */
    @Test
    void shouldBuildAgainForAJdkThatHasMore() throws Exception {
        final Path release = folder.resolve("jdk/release");
        Files.writeString(release, "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.12\"\n");
        run();

        Files.writeString(release, "JAVA_VERSION=\"25\"\nOS_NAME=\"Linux\"\n");
        assertEquals("ran strategies", run().out().strip());
        assertEquals(2, builds());

        run();
        Files.writeString(release, "JAVA_VERSION=\"21.0.1\"\n");
        run();
        assertEquals(2, builds(), "what the newer one has built will do");
    }

    /** Git says nothing about a checkout of another user. */
    @Test
    void shouldNotBuildAgainWhereGitSaysNothing() throws Exception {
        run();
        commit("exit 128");

        final Ended second = run();

        assertEquals(new Ended(0, "ran strategies\n", ""), second);
        assertEquals(1, builds());
    }

    @Test
    void shouldRefuseToBuildInACheckoutOfSomebodyElse() throws Exception {
        final Ended ended = runAsSomebodyElse();

        assertEquals(1, ended.exitCode());
        assertEquals(
                "outboard: folder=" + root
                        + " must be writable, to build in it once; or its owner runs ./outboard there first\n",
                ended.err());
        assertEquals(0, builds());
    }

    @Test
    void shouldRunACheckoutOfSomebodyElseThatIsBuilt() throws Exception {
        run();
        final List<Path> files = files();

        final Ended ended = runAsSomebodyElse();

        assertEquals(new Ended(0, "ran strategies\n", ""), ended);
        assertEquals(files, files());
    }

    @Test
    void shouldRunWhatSomebodyElseBuiltOfOlderSources() throws Exception {
        run();
        commit("echo fedcba9876543210");

        final Ended ended = runAsSomebodyElse();

        assertEquals(0, ended.exitCode(), ended.err());
        assertEquals("ran strategies\n", ended.out());
        assertTrue(ended.err().contains("this user may not build there: running what was built"), ended.err());
        assertEquals(1, builds());
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.sorted().toList();
        }
    }

    /** Runs the launcher as nobody if this user is root, and otherwise without the right to write. */
    private Ended runAsSomebodyElse() throws IOException, InterruptedException {
        if (!"root".equals(System.getProperty("user.name"))) {
            try (Stream<Path> files = Files.walk(root)) {
                files.forEach(file -> assertTrue(file.toFile().setWritable(false)));
            }
            try {
                return run();
            } finally {
                try (Stream<Path> files = Files.walk(root)) {
                    files.forEach(file -> assertTrue(file.toFile().setWritable(true)));
                }
            }
        }
        final Path setpriv = Path.of("/usr/bin/setpriv");
        assumeTrue(Files.isExecutable(setpriv), "root can be nobody else here");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new Started(List.of(
                        setpriv.toString(),
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        root.resolve("outboard").toString(),
                        "strategies"))
                .end();
    }
}
