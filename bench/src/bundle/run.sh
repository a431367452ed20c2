#!/bin/sh
# Runs Outboard from this folder, with the Java runtime that lies in it: no JDK, no Maven, no network.
#
#   run.sh malloc-large ...   a command of the command line; run.sh --help lists them
#   run.sh test [options]     all tests that need a GPU; options go to JUnit's console launcher, such as
#                             --include-classname=REGEX (not --details: the summary is read here)
#   run.sh java ...           any program, such as, with the agent and an example of those in the tests:
#                             run.sh java -javaagent:outboard-agent.jar=report \
#                                 -cp lib/jcuda-12.6.0.jar:tests/cuda-backend-agent examples.BufferLoop
#
# Exit code of test: 0 all that ran passed, 1 some failed, 3 none ran (no GPU, say).
# OUTBOARD_JAVA_OPTIONS: further options for the Java virtual machine.
set -eu

fail() {
    printf 'run.sh: %s\n' "$1" >&2
    exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
java=$here/runtime/bin/java

# The runtime travels packed, since unpacked it is twice as large. It is unpacked beside its archive, moved into place in
# one step, so that a second run at the same time sees all of it or nothing, and the archive goes.
unpack() {
    archive=$here/runtime.tar.gz
    fresh=$here/.runtime.$$
    [ "$(uname -sm)" = "Linux x86_64" ] || fail "system=$(uname -sm) must be Linux x86_64"
    mkdir "$fresh" 2>/dev/null || fail "folder=$here must be writable, to unpack the Java runtime"
    if tar -xzf "$archive" -C "$fresh" 2>/dev/null && mv -T "$fresh/runtime" "$here/runtime" 2>/dev/null; then
        rm -f "$archive"
    fi
    rm -rf "$fresh"
    [ -x "$java" ] || fail "archive=$archive must be complete and fit on the disk unpacked; make the bundle again"
}

[ -x "$java" ] || unpack

# JCuda looks on java.library.path before it unpacks its library from the class path into the temporary folder.
exec_java() {
    # shellcheck disable=SC2086 # a list of words
    exec "$java" --enable-native-access=ALL-UNNAMED "-Djava.library.path=$here/native" \
        -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 ${OUTBOARD_JAVA_OPTIONS-} "$@"
}

if [ "${1-}" = java ]; then
    shift
    exec_java "$@"
fi
if [ "${1-}" != test ]; then
    terminal=false
    [ -t 2 ] && terminal=true
    columns=
    [ -t 1 ] && columns=$(stty size <&1 2>/dev/null | cut -d ' ' -f 2) || columns=
    # As in ./outboard: a strategy's time is that of compiled code.
    compiler=
    case "${1-}" in
        advise | malloc-large | replay) compiler=-Xbatch ;;
    esac
    # shellcheck disable=SC2086 # nothing, or a word
    exec_java $compiler "-Doutboard.terminal=$terminal" "-Doutboard.columns=$columns" -cp "$here/lib/*" io.outboard.bench.cli.Main "$@"
fi
shift

roots=
for root in "$here"/tests/*/; do
    roots=$roots${roots:+:}${root%/}
done
log=$(mktemp "${TMPDIR:-/tmp}/outboard-test.XXXXXX") || fail "the temporary folder must be writable"
trap 'rm -f "$log" "$log.code"' EXIT
trap 'exit 130' INT TERM

# A pipe keeps only the last command's exit code, so the first one's goes through a file.
{
    code=0
    (exec_java -ea "-Doutboard.agent.jar=$here/outboard-agent.jar" -Doutboard.test.jar=true \
        -cp "$here/test-lib/*:$here/lib/*:$roots" \
        org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors \
        --details=tree --details-theme=ascii --include-tag=gpu --scan-classpath="$roots" "$@") 2>&1 || code=$?
    printf '%s\n' "$code" >"$log.code"
} | tee "$log"
code=$(cat "$log.code")

count() {
    sed -n "s/^\[ *\([0-9][0-9]*\) tests $1 *\]\$/\1/p" "$log" | tail -n 1
}
passed=$(count successful)
failed=$(count failed)
skipped=$(count aborted)
disabled=$(count skipped)
summary="passed=${passed:-0} failed=${failed:-0} skipped=$((${skipped:-0} + ${disabled:-0}))"
if [ "$code" -ne 0 ]; then
    printf 'run.sh: GPU tests FAILED: %s, exit code %s of the test run\n' "$summary" "$code"
    exit 1
fi
if [ "$((${passed:-0} + ${failed:-0}))" -eq 0 ]; then
    printf 'run.sh: NO GPU test ran: %s; the lines above say why\n' "$summary"
    exit 3
fi
printf 'run.sh: GPU tests passed: %s\n' "$summary"
