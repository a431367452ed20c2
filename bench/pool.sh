#!/bin/sh
# What pools, facades and the driver's allocators do on this machine's GPU: a folder of results, as bench/results has, and at the end a
# table of medians. Some three quarters of an hour on an idle machine; needs a GPU and the bundle (./outboard bundle).
#
#   bench/pool.sh BUNDLE FOLDER [PART...]    parts, all by default:
#
#   readme     what README's table, picture and table by size are made of, and the environment: processes and sweep with one thread,
#              strict, PROCESSES times
#   charts     one run with the report
#   processes  latencies of one thread, a process after the other: PROCESSES of them, 9 by default, REUSE and OPS as said
#   facades    several threads by a facade, beside cuMemAllocAsync, likewise; also large blocks, and beside launches; with stream-ordered,
#              too, in streams.jsonl
#   sweep      latencies by size
#   profiles   several threads
#   growing    pools that grow, and pools that took all at once, in turn: GROWING rounds, 3 by default
#   kernels    a program that keeps kernels in flight, without the agent and with it: KERNELS rounds, 3 by default
#   launches   a program that allocates beside threads that launch, likewise: LAUNCHES are numbers of threads, LAUNCHED the kernels'
#              microseconds with how many of them until a thread waits
#   memory     what a pool holds on recorded traces, TRACES; over addresses only
#
# A part adds to its file; charts replaces those of its run. ROUND_MS is a round's length; what takes longer than LIMIT seconds is ended.
set -eu
usage() {
    echo "usage: bench/pool.sh BUNDLE FOLDER [readme|charts|processes|facades|sweep|profiles|growing|kernels|launches|memory]..." >&2
    exit 2
}
[ $# -ge 2 ] || usage
bundle=$1
[ -x "$bundle/run.sh" ] || {
    echo "pool.sh: bundle=$bundle must have run.sh; ./outboard bundle makes it in bench/target/bundle" >&2
    exit 2
}
folder=$2
shift 2
[ $# -gt 0 ] || set -- charts processes facades sweep profiles growing kernels launches
for part in "$@"; do
    case $part in readme | charts | processes | facades | sweep | profiles | growing | kernels | launches | memory) ;; *) usage ;; esac
done
mkdir -p "$folder"

outboard() {
    "$bundle/run.sh" "$@"
}

# What hangs ends no more than itself.
limited() {
    timeout -k 5 "${LIMIT:-120}" "$bundle/run.sh" "$@" || echo "pool.sh: exit code $? of $*" >&2
}

threads() {
    file=$1
    policy=$2
    shift 2
    limited pool --reuse "$policy" --device 0 --allocators facade,cuMemAllocAsync --round-ms "${ROUND_MS:-300}" \
        --format json "$@" >>"$folder/$file.jsonl"
}

example() {
    options=$1
    shift
    # shellcheck disable=SC2086 # none, or one
    limited java $options -cp "$bundle/lib/jcuda-12.6.0.jar:$bundle/tests/cuda-backend-agent" "$@" 2>&1
}

profile() {
    outboard pool --round-ms "${ROUND_MS:-300}" --format json "$@" >>"$folder/profiles.jsonl"
}

# Over addresses only, with a device that is always idle.
addresses() {
    profile --device none "$@"
}

megabytes() {
    file=$folder/$1.jsonl
    shift
    outboard pool --device none --profile own --sizes 1MiB..32MiB --threads 1,4,16 --round-ms 200 --format json "$@" >>"$file"
}

in_flight() {
    label=$1
    for streams in "" blocking; do
        # shellcheck disable=SC2086 # nothing, or a word
        said=$(example "$2" examples.KernelsInFlight "$milliseconds" 100 $streams)
        printf '%s%s: %s\n' "$label" "${streams:+, blocking streams}" \
            "$(printf '%s\n' "$said" | grep -E '^(wrong buffers|kernel)' | paste -sd , | sed 's/,/, /')" \
            >>"$folder/kernels-in-flight.txt"
    done
}

processes() {
    limited pool --reuse "$1" --ops "${OPS:-1e6}" --threads 1 --format json >>"$folder/processes.jsonl"
}

# The facts that a short run writes; the command was this one.
environment() {
    short=$(mktemp -d)
    outboard pool --reuse strict --ops 2e4 --threads 1 --out "$short" >"$short/said"
    sed "s|\"command\":\"[^\"]*\"|\"command\":\"PROCESSES=${PROCESSES:-9} OPS=${OPS:-1e6} bench/pool.sh BUNDLE FOLDER $1\"|" \
        "$short/environment.json" >"$folder/environment.json"
    rm -r "$short"
}

beside() {
    said=$(example "$2" examples.LaunchesBeside $launchers $kernels 100000 "${GIVE_UP:-6}" | tail -n 1)
    printf '%s: %s\n' "$1" "$said" >>"$folder/launches.txt"
}

for part in "$@"; do
    case $part in
        readme)
            for process in $(seq "${PROCESSES:-9}"); do
                processes strict
                LIMIT=${LIMIT:-600} limited pool --sweep --threads 1 --reuse strict --format json >>"$folder/sweep.jsonl"
            done
            environment readme
            ;;
        charts)
            outboard pool --out "$folder" --overwrite
            ;;
        processes)
            for process in $(seq "${PROCESSES:-9}"); do
                processes "${REUSE:-strict,tracked,stream-ordered}"
            done
            ;;
        facades)
            for process in $(seq "${PROCESSES:-9}"); do
                threads facades strict --profile own --threads 1,4,16
                threads facades strict --profile pairs --threads 1,4,8
                for threads in 1 4 16; do
                    threads facades strict --profile own --threads "$threads" --sizes 16MiB..256MiB --live 8
                done
                threads facades strict --profile own --threads 16 --sizes 1KiB..16MiB
                threads facades strict --profile own --threads 8 --launchers 8
                threads streams stream-ordered --profile own --threads 1,4,16
            done
            ;;
        sweep)
            outboard pool --sweep --threads 1,16 --format json >>"$folder/sweep.jsonl"
            ;;
        profiles)
            for others in 0 8; do
                addresses --profile own --threads 1,2,4,8,16 --reuse strict --region 1GiB --others $others
                addresses --profile own --threads 1,4,16 --reuse immediate,tracked --region 1GiB --others $others
                addresses --profile pairs --threads 1,2,4,8 --reuse strict --region 1GiB --others $others
            done
            addresses --profile own --threads 1,4,16 --reuse strict
            addresses --profile pairs --threads 1,8 --reuse strict
            addresses --profile larson --threads 1,4,16 --reuse strict --region 1GiB
            addresses --profile xmalloc --threads 1,4,16 --reuse strict --region 1GiB
            profile --profile own --threads 1,16 --reuse strict --device 0
            ;;
        growing)
            for round in $(seq "${GROWING:-3}"); do
                for policy in immediate strict; do
                    megabytes growing --reuse $policy
                    megabytes at-once --reuse $policy --region 16GiB
                done
            done
            ;;
        kernels)
            for milliseconds in ${MILLISECONDS:-1 5 20}; do
                for round in $(seq "${KERNELS:-3}"); do
                    in_flight JCuda ""
                    in_flight "agent, strict" "-javaagent:$bundle/outboard-agent.jar=report"
                done
            done
            ;;
        launches)
            for launchers in ${LAUNCHES:-0 2 4 8 16}; do
                for kernels in ${LAUNCHED:-0,0 5,0 50,0 0,16 5,16 50,16}; do
                    kernels=$(echo "$kernels" | tr , ' ')
                    beside JCuda ""
                    beside agent "-javaagent:$bundle/outboard-agent.jar"
                    beside "agent, immediate" "-javaagent:$bundle/outboard-agent.jar=reuse=immediate"
                    [ "$launchers" -gt 0 ] || break
                done
            done
            ;;
        memory)
            for trace in ${TRACES:?recorded traces}; do
                for slack in "" "--slack 0"; do
                    # shellcheck disable=SC2086 # nothing, or two words
                    limited pool --memory --device none --trace "$trace" --threads 1,16 --reuse strict,immediate --format json $slack \
                        >>"$folder/memory.jsonl"
                done
            done
            ;;
    esac
done

for file in "$folder"/processes.jsonl "$folder"/facades.jsonl "$folder"/streams.jsonl "$folder"/memory.jsonl; do
    [ ! -f "$file" ] || awk -f "$(dirname "$0")/medians.awk" "$file"
done
for file in "$folder"/kernels-in-flight.txt "$folder"/launches.txt; do
    [ ! -f "$file" ] || cat "$file"
done
