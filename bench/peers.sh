#!/bin/sh
# Compiles the tests of `outboard kernels`, and its simulations, over published allocators from their authors' sources: mallocMC, which
# is ScatterAlloc, and Halloc, the peers in the papers of Vinkler and Springer. Nothing of these sources is part of Outboard. Needs
# nvcc 13.
#
#   bench/peers.sh [--sources DIR] [kernels|PROGRAM...]    the tests and all simulations by default
#
# DIR has their folders, mallocMC and halloc. Without it, git fetches them into bench/kernels/target/peers, at the versions below.
# Then build or bundle again, and run: ./outboard kernels --program wator,life --store ObjectHeap,mallocMC,Halloc
# or: ./outboard paper vinkler. Each run of a peer is a process of its own. In the search for the largest problem a crash or a hang
# counts as a refusal.
set -eu

MALLOC_MC=2.4.0crp # the last one that is native CUDA
HALLOC=b91804ec468c19224cb295f11d26fdf117100fa4
PROGRAMS='kernels wator traffic life generation nbody collision structure sugarscape'

fail() {
    printf 'peers: %s\n' "$1" >&2
    exit 1
}

sources=
case ${1-} in
    -h | --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --sources)
        [ $# -ge 2 ] || fail "--sources must have a folder"
        [ -d "$2" ] || fail "--sources=$2 must be a folder"
        sources=$(cd "$2" && pwd)
        shift 2
        ;;
esac
for program in "$@"; do
    case " $PROGRAMS " in
        *" $program "*) ;;
        *) fail "program=$program must be one of: $PROGRAMS" ;;
    esac
done
[ $# -gt 0 ] || set -- $PROGRAMS
cd "$(dirname "$0")/.."
command -v nvcc >/dev/null || fail "nvcc of CUDA 13 must be on the PATH"

# fetch NAME ADDRESS VERSION
fetch() {
    if [ ! -d "$sources/$1" ]; then
        git clone -q "$2" "$sources/$1.part"
        git -C "$sources/$1.part" -c advice.detachedHead=false checkout -q "$3"
        mv "$sources/$1.part" "$sources/$1"
    fi
}

if [ -z "$sources" ]; then
    sources=$PWD/bench/kernels/target/peers
    mkdir -p "$sources"
    rm -rf "$sources"/*.part
    fetch mallocMC https://github.com/alpaka-group/mallocMC "$MALLOC_MC"
    fetch halloc https://github.com/canonizer/halloc "$HALLOC"
fi
for header in mallocMC/src/include/mallocMC/mallocMC.hpp halloc/src/halloc.cu; do
    [ -f "$sources/$header" ] || fail "--sources=$sources must have $header"
done

peers=bench/kernels/src/main/cuda/peers
target=bench/kernels/target/ptx/io/outboard/bench/kernels
mkdir -p "$target/programs"

# make PROGRAM PEER OPTION...
make() {
    code=$1
    made=$target/programs/$1-$2
    source=$peers/peer.cu
    case $code in
        kernels)
            made=$target/$1-$2
            source=$peers/tests.cu
            ;;
        generation)
            code=life
            set -- "$@" -DOUTBOARD_GENERATIONS
            ;;
    esac
    shift 2
    # The stage looks for kernels by their names. PTX for the same architecture as ptx.sh makes.
    nvcc -gencode arch=compute_75,code=compute_75 -std=c++17 -O3 -w --device-entity-has-hidden-visibility=false \
        -Xcompiler -rdynamic -Xlinker --strip-all -I cuda-backend/kernels/src/main/cuda "$@" \
        "-DPROGRAM=\"../programs/$code.cu\"" "$source" -o "$made.part" -ldl || fail "$made must compile"
    mv "$made.part" "$made"
    printf '%s\n' "$made"
}

for program in "$@"; do
    make "$program" mallocMC -DPEER_MALLOC_MC -I "$sources/mallocMC/src/include"
    make "$program" Halloc -DPEER_HALLOC -I "$sources/halloc/src"
done
