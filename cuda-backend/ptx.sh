#!/bin/sh
# Makes all PTX that is checked in from the CUDA sources, those of the bench and of tests included, and the list of headers.
# Needs nvcc and ptxas of CUDA 13; the build doesn't. PTX whose sources haven't changed stays as it is. All of it is
# packed: zcat shows it.
#
#   cuda-backend/ptx.sh           makes what is missing or stale
#   cuda-backend/ptx.sh --check   only says what that would be
#
# Each PTX names, in its first lines, the SHA-256 over its own name, this script (so, the options), its source and all
# headers. PtxTest finds by it what is stale.
set -eu
export LC_ALL=C

# Those that free chunks; of each there is a checked build too, which tells more wrong frees from right ones.
CHUNKS='BitMalloc CMalloc CFMalloc CMMalloc CFMMalloc'
ALLOCATORS="AtomicMalloc AWMalloc $CHUNKS CudaMalloc"
# The oldest GPU that nvcc 13 knows, and an old version of PTX, which all drivers that JCuda works with can read. nvcc
# writes its own version, whatever it uses; that the older one is enough, without hints that it doesn't know, is what ptxas
# is asked.
ARCHITECTURE=75
PTX_VERSION=7.7

case ${1-} in
    '') check=false ;;
    --check) check=true ;;
    *)
        printf 'ptx: argument=%s must be absent or --check\n' "$1" >&2
        exit 2
        ;;
esac

cd "$(dirname "$0")/.."
cuda=cuda-backend/src/main/cuda
resources=cuda-backend/src/main/resources/io/outboard/cuda
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
touch "$scratch/stale"

fail() {
    printf 'ptx: %s\n' "$1" >&2
    exit 1
}

# In the order of their names, those in the folder of a source.
headers_beside() {
    find "$(dirname "$1")" -maxdepth 1 -name '*.cuh' | sort
}

# make SOURCE TARGET [OPTION...]
make() {
    source=$1
    target=$2
    shift 2
    name=$(basename "$target")
    hash=$({ printf '%s\n' "$name" && cat cuda-backend/ptx.sh "$source" $(headers_beside "$source") "$cuda"/outboard/*.cuh; } |
        sha256sum)
    hash=${hash%% *}
    stem=$(basename "$source" .cu | tr - _)
    if [ -f "$target" ] && gzip -cd "$target" | head -n 3 | grep -q "$hash"; then
        return
    fi
    printf '%s\n' "$target" | tee -a "$scratch/stale"
    if $check; then
        return
    fi
    made=$scratch/$name
    nvcc -ptx -arch="compute_$ARCHITECTURE" -std=c++17 -I "$cuda" "$@" "$source" -o "$made.nvcc" ||
        fail "source=$source must compile for $target"
    {
        printf '// Made by cuda-backend/ptx.sh from %s: do not edit.\n' "$(basename "$source")"
        printf '// SHA-256 of what it was made from: %s\n' "$hash"
        # In names of what belongs to one file, the first number is made from the folder.
        sed -E -e '/^\/\/ Compiler Build ID/d' -e '/^[[:space:]]*\.file[[:space:]]/d' \
            -e '/^[[:space:]]*\.pragma "used_bytes_mask/d' -e "s/^\.version .*/.version $PTX_VERSION/" \
            -e "s/[0-9a-f]{8}(_[0-9]+_${stem}_cu_)/00000000\1/g" "$made.nvcc"
    } >"$made.ptx"
    ptxas -arch="sm_$ARCHITECTURE" -c "$made.ptx" -o "$made.cubin" || fail "target=$target must be PTX $PTX_VERSION"
    mkdir -p "$(dirname "$target")"
    # Without a time, so that the same PTX makes the same file.
    gzip -n -9 <"$made.ptx" >"$made.gz"
    mv "$made.gz" "$target"
}

# make_pair SOURCE PREFIX ALLOCATOR ENDING [OPTION...]: at the same time, PREFIX<allocator>ENDING and
# PREFIX<allocator>-coalescedENDING
make_pair() {
    from=$1
    path=$2$3
    type=outboard::$3
    ending=$4
    shift 4
    make "$from" "$path$ending" "$@" "-DOUTBOARD_ALLOCATOR=$type" &
    plain=$!
    make "$from" "$path-coalesced$ending" "$@" "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<$type>" &
    coalesced=$!
    failed=false
    wait "$plain" || failed=true
    wait "$coalesced" || failed=true
    if $failed; then
        exit 1
    fi
}

# Waits for what was begun in the background.
wait_all() {
    for job in $jobs; do
        wait "$job" || exit 1
    done
    jobs=
}

make "$cuda/device_heap.cu" "$resources/ptx/device_heap.ptx.gz"
make "$cuda/object_heap.cu" "$resources/ptx/object_heap.ptx.gz"
for allocator in $ALLOCATORS; do
    make_pair "$cuda/allocator.cu" "$resources/ptx/" "$allocator" .ptx.gz -rdc=true
done
for allocator in $CHUNKS; do
    make_pair "$cuda/allocator.cu" "$resources/ptx/" "$allocator" -checked.ptx.gz -rdc=true -DOUTBOARD_CHECKED
done
for source in cuda-backend/src/test/resources/io/outboard/cuda/*.cu; do
    make "$source" "${source%.cu}.ptx.gz" -rdc=true
done
for kernels in bench/src/main/cuda/*.cu; do
    if [ -f "$kernels" ]; then
        prefix=bench/src/main/resources/io/outboard/bench/kernels/$(basename "$kernels" .cu)-
        for allocator in $ALLOCATORS; do
            make_pair "$kernels" "$prefix" "$allocator" .ptx.gz
        done
        # What the kernels are without an allocator.
        make "$kernels" "${prefix}Empty.ptx.gz" -DOUTBOARD_ALLOCATOR=EmptyMalloc
        make "$kernels" "${prefix}Linked.ptx.gz" -rdc=true -DOUTBOARD_LINKED -DOUTBOARD_ALLOCATOR=LinkedMalloc
    fi
done

programs=bench/src/main/cuda/programs
jobs=
# make_program NAME STORE [OPTION...]: in the background.
make_program() {
    program=$1
    store=$2
    shift 2
    make "$programs/$program.cu" \
        "bench/src/main/resources/io/outboard/bench/programs/$program-$store.ptx.gz" "$@" &
    jobs="$jobs $!"
}
# Programs of objects: visited by the heap, or by pointers to what an allocator gave.
for program in wator traffic life nbody collision; do
    make_program "$program" ObjectHeap -DOUTBOARD_OBJECTS
    make_program "$program" BitMalloc -DOUTBOARD_ALLOCATOR=outboard::BitMalloc
    make_program "$program" CudaMalloc -DOUTBOARD_ALLOCATOR=outboard::CudaMalloc
    make_program "$program" CudaMalloc-buffered \
        '-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::Buffered<outboard::CudaMalloc>>'
    for allocator in CMalloc CFMalloc CMMalloc CFMMalloc; do
        make_program "$program" "$allocator-coalesced" "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::$allocator>"
    done
    wait_all
done
for program in nbody collision; do
    make_program "$program" Aos -DOUTBOARD_ARRAYS=AOS
    make_program "$program" Soa -DOUTBOARD_ARRAYS=SOA
done
wait_all
# A k-d tree's build: allocators as the paper has them, and two more. Not fused, so that a CPU comes to the same tree.
kdtree_store() {
    make_program kdtree "$1" -fmad=false "-DOUTBOARD_ALLOCATOR=$2"
}
for allocator in $ALLOCATORS; do
    kdtree_store "$allocator" "outboard::$allocator"
done
kdtree_store CFMMalloc-coalesced 'outboard::Coalesced<outboard::CFMMalloc>'
kdtree_store CudaMalloc-buffered 'outboard::Coalesced<outboard::Buffered<outboard::CudaMalloc>>'
wait_all
# Programs that measure requests alone.
make_program objects ObjectHeap -DOUTBOARD_OBJECTS
make_program arena Bump -DOUTBOARD_BUMP
for queues in 1 4 16 64; do
    make_program xmalloc "CudaMalloc-buffered$queues" "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<BufferedBy<$queues>>"
done
make_program xmalloc CudaMalloc-bufferedonly16 '-DOUTBOARD_ALLOCATOR=BufferedBy<16>'
make_program xmalloc CudaMalloc-coalesced '-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::CudaMalloc>'
for program in xmalloc objects; do
    make_program "$program" BitMalloc -DOUTBOARD_ALLOCATOR=outboard::BitMalloc
    make_program "$program" CudaMalloc -DOUTBOARD_ALLOCATOR=outboard::CudaMalloc
    make_program "$program" CudaMalloc-buffered \
        '-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::Buffered<outboard::CudaMalloc>>'
done
wait_all
for allocator in CMalloc CFMalloc CMMalloc CFMMalloc; do
    make_program objects "$allocator-coalesced" "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::$allocator>"
done
for allocator in BitMalloc CFMMalloc CudaMalloc; do
    make_program arena "$allocator" "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
    make_program arena "$allocator-arena" -DOUTBOARD_ARENA "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
done
wait_all

(cd "$cuda" && ls outboard/*.cuh) >"$scratch/headers.txt"
if ! cmp -s "$scratch/headers.txt" "$resources/include/headers.txt"; then
    printf '%s\n' "$resources/include/headers.txt" | tee -a "$scratch/stale"
    if ! $check; then
        mkdir -p "$resources/include"
        mv "$scratch/headers.txt" "$resources/include/headers.txt"
    fi
fi
if $check && [ -s "$scratch/stale" ]; then
    fail "$(wc -l <"$scratch/stale") files must be made anew by cuda-backend/ptx.sh"
fi
