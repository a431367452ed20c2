#!/bin/sh
# What pools, facades and the driver's allocators do on this machine's GPU: a folder of results, as bench/results has. Some half an
# hour on an idle machine; needs a GPU and the bundle (./outboard bundle).
#
#   bench/pool.sh BUNDLE FOLDER [PART...]    parts, all by default:
#
#   charts     one run with the report
#   processes  latencies of one thread, a process after the other: PROCESSES of them, 9 by default
#   sweep      latencies by size
#   profiles   several threads
#   growing    pools that grow, and pools that took all at once, in turn: GROWING rounds, 3 by default
#   kernels    a program that keeps kernels in flight, without the agent and with it
#
# A part adds to its file; charts replaces those of its run.
set -eu
usage() {
    echo "usage: bench/pool.sh BUNDLE FOLDER [charts|processes|sweep|profiles|growing|kernels]..." >&2
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
[ $# -gt 0 ] || set -- charts processes sweep profiles growing kernels
for part in "$@"; do
    case $part in charts | processes | sweep | profiles | growing | kernels) ;; *) usage ;; esac
done
mkdir -p "$folder"

outboard() {
    "$bundle/run.sh" "$@"
}

profile() {
    outboard pool --round-ms 300 --format json "$@" >>"$folder/profiles.json"
}

# Over addresses only, with a device that is always idle.
addresses() {
    profile --device none "$@"
}

megabytes() {
    file=$folder/$1.json
    shift
    outboard pool --device none --profile own --sizes 1MiB..32MiB --threads 1,4,16 --round-ms 200 --format json "$@" >>"$file"
}

in_flight() {
    label=$1
    shift
    said=$(outboard java "$@" -cp "$bundle/lib/jcuda-12.6.0.jar:$bundle/tests/cuda-backend-agent" \
        examples.KernelsInFlight "$milliseconds" 100 2>&1)
    printf '%s: %s\n' "$label" "$(printf '%s\n' "$said" | grep -E '^(wrong buffers|kernel)' | paste -sd , | sed 's/,/, /')" \
        >>"$folder/kernels-in-flight.txt"
}

for part in "$@"; do
    case $part in
        charts)
            outboard pool --out "$folder" --overwrite
            ;;
        processes)
            for process in $(seq "${PROCESSES:-9}"); do
                outboard pool --reuse strict,tracked,stream-ordered --threads 1 --format json >>"$folder/processes.json"
            done
            ;;
        sweep)
            outboard pool --sweep --threads 1,16 --format json >>"$folder/sweep.json"
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
            for milliseconds in 1 5 20; do
                for round in 1 2 3; do
                    in_flight JCuda
                    in_flight "agent, strict" "-javaagent:$bundle/outboard-agent.jar=report"
                    in_flight "agent, tracked" "-javaagent:$bundle/outboard-agent.jar=report,reuse=tracked"
                done
            done
            ;;
    esac
done
