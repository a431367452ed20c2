#!/bin/sh
# Makes bench/target/bundle: all that runs Outboard on an x86-64 Linux machine with an NVIDIA driver and nothing else.
# In it: a Java runtime of the few modules needed, the jars, JCuda's native libraries, the agent, the tests of the modules that
# know a GPU, with example programs for the agent, and run.sh. At most 55 MB, so that it is easily carried to where the GPU is.
# nvcc 13 compiles the kernels of benchmarks and tests here. Without it the bundle has those that were made before; where there
# are none, the command kernels says so, and tests that launch kernels are skipped.
#
#   bench/bundle.sh          (or: ./outboard bundle)
#   bench/target/bundle/run.sh malloc-large --help
#   bench/target/bundle/run.sh test
#
# The runtime is of the JDK in JAVA_HOME, else of the java on the PATH: 17 or newer, best 22 or newer.
# MAVEN_ARGS: further options for the build, such as --offline.
set -eu

LIMIT_BYTES=55000000
# For JCuda (logging), the measurements (management, jfr) and HdrHistogram, Agrona and the console (unsupported); what
# our own jars use beyond these is added below.
MODULES=java.base,java.logging,java.management,jdk.jfr,jdk.management,jdk.unsupported

fail() {
    printf 'bundle: %s\n' "$1" >&2
    exit 1
}

case ${1-} in
    '') ;;
    -h | --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *)
        printf 'bundle: argument=%s must be absent or --help\n' "$1" >&2
        exit 2
        ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
target=bench/target
bundle=$target/bundle
[ "$(uname -sm)" = "Linux x86_64" ] || fail "system=$(uname -sm) must be Linux x86_64, since the Java runtime is copied"

# 1. The JDK.
if [ -n "${JAVA_HOME-}" ]; then
    jdk=$JAVA_HOME
else
    command -v java >/dev/null || fail "no JDK found: set JAVA_HOME or put java on the PATH"
    jdk=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')
fi
for tool in java jar jdeps jlink; do
    [ -x "$jdk/bin/$tool" ] || fail "jdk=$jdk must be a whole JDK, but bin/$tool is missing"
done
release=$("$jdk/bin/java" -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java\.specification\.version = //p')
case $release in
    '' | *[!0-9]*) fail "jdk=$jdk must be 17 or newer" ;;
esac
[ "$release" -ge 17 ] || fail "jdk=$jdk must be 17 or newer, but is $release"

# 2. The build, if anything changed since the last one, with kernels where nvcc is. The commit counts too: it is compiled in.
mkdir -p "$target"
if command -v nvcc >/dev/null; then
    cuda-backend/ptx.sh --all >&2 || fail "the kernels can't be made"
elif [ ! -d bench/kernels/target/ptx ]; then
    printf 'bundle: no nvcc on the PATH: the command kernels and tests that launch kernels are left out\n' >&2
fi
stamp=$target/bundle.stamp
state=$(git rev-parse HEAD 2>/dev/null && git status --porcelain 2>/dev/null) || state=
is_built() {
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$state" ] && [ -d "$target/lib" ] && [ -d "$target/test-console" ] &&
        [ -z "$(find . -name target -prune -o -name .git -prune -o \
            -type f \( -path '*/src/*' -o -name pom.xml \) -newer "$stamp" -print | head -n 1)" ] &&
        [ -z "$(find cuda-backend/target/ptx cuda-backend/kernels/target/ptx bench/kernels/target/ptx -newer "$stamp" 2>/dev/null | head -n 1)" ]
}
if ! is_built; then
    rm -rf "$stamp" "$target/lib" "$target/test-console" cuda-backend/agent/target/bindings
    JAVA_HOME=$jdk ./mvnw -q -B -DskipTests -Pbundle,kernels -pl bench,cuda-backend/agent -am package \
        >"$target/bundle-build.log" 2>&1 || fail "the build failed, see $target/bundle-build.log"
    printf '%s\n' "$state" >"$stamp"
fi

# 3. Jars, native libraries, tests.
rm -rf "$bundle"
mkdir -p "$bundle/lib" "$bundle/native" "$bundle/tests" "$bundle/test-lib"
natives=
for jar in "$target"/outboard-bench-*.jar "$target"/lib/*.jar; do
    case $jar in
        */jcuda-natives-*) natives=$root/$jar ;;
        *-sources.jar | *-javadoc.jar | *-tests.jar) ;;
        *) cp "$jar" "$bundle/lib/" ;;
    esac
done
[ -f "$bundle"/lib/outboard-core-*.jar ] || fail "$target/lib must have the jars; delete $stamp and try again"
[ -n "$natives" ] || fail "$target/lib must have the jcuda-natives jar; delete $stamp and try again"
cp cuda-backend/agent/target/outboard-agent.jar "$bundle/" ||
    fail "cuda-backend/agent/target must have outboard-agent.jar; delete $stamp and try again"
# All but the compiler for PTX, which is 24 MB and not used.
(cd "$bundle/native" && "$jdk/bin/jar" xf "$natives" lib && rm -f lib/*JNvPTXCompiler* && mv lib/* . && rmdir lib) ||
    fail "JCuda's native libraries can't be unpacked from $natives"
cp "$target"/test-console/*.jar cuda-backend/agent/target/bindings/*.jar "$bundle/test-lib/" ||
    fail "cuda-backend/agent/target must have the bindings; delete $stamp and try again"
# JavaCPP's natives are 30 MB for all of CUDA's libraries, of which the runtime and the driver are used.
natives=$(echo "$bundle"/test-lib/cuda-*-linux-x86_64.jar)
(cd "$bundle/test-lib" && "$jdk/bin/jar" xf "${natives##*/}" org/bytedeco/cuda/linux-x86_64/libjnicudart.so &&
    "$jdk/bin/jar" cfM "${natives##*/}" org && rm -r org) || fail "JavaCPP's native library can't be taken from $natives"
find cuda-backend bench -type d -name test-classes -path '*/target/test-classes' ! -path "$bundle/*" | while read -r classes; do
    module=${classes%/target/test-classes}
    cp -R "$classes" "$bundle/tests/$(printf '%s' "$module" | tr / -)"
done
cp bench/src/bundle/run.sh "$bundle/run.sh"
chmod +x "$bundle/run.sh"

# 4. The Java runtime. The agent has the classes of all modules; those that are Java modules themselves, jdeps would look for
# what they require on a module path.
used=$("$jdk/bin/jdeps" --ignore-missing-deps --multi-release "$release" --print-module-deps \
    --class-path "$bundle/lib/*" "$bundle"/lib/outboard-bench-*.jar "$bundle/outboard-agent.jar") ||
    fail "jdeps can't read the jars in $bundle"
# What gzip makes of all of it is smaller than files that are compressed one by one.
compress=zip-0
[ "$release" -ge 21 ] || compress=0
"$jdk/bin/jlink" --add-modules "$MODULES,$used" --strip-debug --no-header-files --no-man-pages \
    --compress "$compress" --output "$bundle/runtime" >"$target/bundle-build.log" 2>&1 ||
    fail "jlink failed, see $target/bundle-build.log"
tar -cf - -C "$bundle" runtime | gzip -9 >"$bundle/runtime.tar.gz" || fail "the Java runtime can't be packed"
rm -rf "$bundle/runtime"

# 5. The size, of the files themselves.
size=$(find "$bundle" -type f -exec cat {} + | wc -c)
[ "$size" -le "$LIMIT_BYTES" ] || fail "size=$size must be <= $LIMIT_BYTES bytes; see du -a $bundle | sort -n"
[ "$release" -ge 22 ] ||
    printf 'bundle: jdk=%s is older than 22, so cuMemAllocAsync keeps its default release threshold\n' "$release" >&2
printf 'bundle: %s, %s bytes, Java %s\n' "$bundle" "$size" "$release"
