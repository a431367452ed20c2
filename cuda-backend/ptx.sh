#!/bin/sh
# Makes PTX from the CUDA sources, and the list of headers. Needs nvcc and ptxas of CUDA 13. What the jar of
# cuda-backend/kernels has is checked in, so that the build needs neither. What tests and benchmarks run is not: it lies in
# target/ptx of their modules, from where the build takes what it finds. PTX whose sources haven't changed stays as it is.
# All of it is packed: zcat shows it.
#
#   cuda-backend/ptx.sh           makes what is missing or stale of what is checked in
#   cuda-backend/ptx.sh --all     makes also what tests and benchmarks run: some minutes, on all cores
#   cuda-backend/ptx.sh --check   only says what is missing or stale of what is checked in
#
# Each PTX names, in its first lines, the SHA-256 over its own name, this script (so, the options), its source and all
# headers. PtxTest finds by it what is stale.
set -eu
export LC_ALL=C

# Those that free chunks; of each there is a checked build too, which tells more wrong frees from right ones.
CHUNKS='BitMalloc CMalloc CFMalloc CMMalloc CFMMalloc'
ALLOCATORS="AtomicMalloc AWMalloc $CHUNKS CudaMalloc XMalloc"
# Those that join a warp's requests anyway: coalesced, they are the same code. DevicePtx knows them, too.
JOINING='AtomicMalloc AWMalloc BitMalloc XMalloc'
# The oldest GPU that nvcc 13 knows, and an old version of PTX, which all drivers that JCuda works with can read. nvcc
# writes its own version, whatever it uses; that the older one is enough, without hints that it doesn't know, is what ptxas
# is asked.
ARCHITECTURE=75
PTX_VERSION=7.7

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

cuda=cuda-backend/kernels/src/main/cuda
# Makes one of those that are listed below, in a process of its own; if it fails, it exits with 255, at which xargs stops.
if [ "${1-}" = --make ]; then
    trap '[ $? = 0 ] || exit 255' EXIT
    shift
    make "$@"
    exit
fi

check=false
all=false
case ${1-} in
    '') ;;
    --all) all=true ;;
    --check) check=true ;;
    *)
        printf 'ptx: argument=%s must be absent, --all or --check\n' "$1" >&2
        exit 2
        ;;
esac
cd "$(dirname "$0")/.."
$check || command -v nvcc >/dev/null || fail "nvcc of CUDA 13 must be on the PATH"
resources=cuda-backend/kernels/src/main/resources/io/outboard/cuda/kernels
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
touch "$scratch/stale"
export check scratch

# list SOURCE TARGET [OPTION...]: a line of what is to be made; no word in it may have a space.
list() {
    printf '%s\n' "$*"
}

# list_pair SOURCE PREFIX ALLOCATOR ENDING [OPTION...]: PREFIX<allocator>ENDING and, where that is other code,
# PREFIX<allocator>-coalescedENDING
list_pair() {
    from=$1
    prefix=$2
    allocator=$3
    ending=$4
    shift 4
    list "$from" "$prefix$allocator$ending" "$@" "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
    case " $JOINING " in
        *" $allocator "*) ;;
        *) list "$from" "$prefix$allocator-coalesced$ending" "$@" \
            "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::$allocator>" ;;
    esac
}

# list_program NAME STORE [OPTION...]
list_program() {
    program=$1
    store=$2
    shift 2
    source=$program
    if [ "$program" = generation ]; then
        source=life
        set -- "$@" -DOUTBOARD_GENERATIONS
    fi
    list "bench/kernels/src/main/cuda/programs/$source.cu" "bench/kernels/target/ptx/io/outboard/bench/kernels/programs/$program-$store.ptx.gz" "$@"
}

{
    list "$cuda/device_heap.cu" "$resources/ptx/device_heap.ptx.gz"
    list "$cuda/object_heap.cu" "$resources/ptx/object_heap.ptx.gz"
    list "$cuda/xmalloc_heap.cu" "$resources/ptx/xmalloc_heap.ptx.gz"
    for allocator in $ALLOCATORS; do
        list_pair "$cuda/allocator.cu" "$resources/ptx/" "$allocator" .ptx.gz -rdc=true
    done
    for allocator in $CHUNKS; do
        list_pair "$cuda/allocator.cu" "$resources/ptx/" "$allocator" -checked.ptx.gz -rdc=true -DOUTBOARD_CHECKED
    done
    $all || exit 0

    for module in cuda-backend cuda-backend/kernels; do
        for source in "$module"/src/test/resources/io/outboard/cuda/*.cu; do
            list "$source" "$module/target/ptx/io/outboard/cuda/$(basename "$source" .cu).ptx.gz" -rdc=true
        done
    done

    kernels=bench/kernels/src/main/cuda/kernels.cu
    prefix=bench/kernels/target/ptx/io/outboard/bench/kernels/kernels-
    for allocator in $ALLOCATORS; do
        case $allocator in
            # As the paper has them; ours, which join the requests of a warp, are the coalesced ones beside.
            AtomicMalloc | AWMalloc)
                list "$kernels" "$prefix$allocator.ptx.gz" "-DOUTBOARD_ALLOCATOR=outboard::Uncoalesced<outboard::$allocator>"
                list "$kernels" "$prefix$allocator-coalesced.ptx.gz" "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
                ;;
            *) list_pair "$kernels" "$prefix" "$allocator" .ptx.gz ;;
        esac
    done
    for list in DoubleCMalloc DoubleCFMMalloc; do
        list_pair "$kernels" "$prefix" "$list" .ptx.gz
    done
    for arena in FDGMalloc=CudaMalloc WarpArena=BitMalloc; do
        list "$kernels" "$prefix${arena%=*}.ptx.gz" -DOUTBOARD_ARENA "-DOUTBOARD_ALLOCATOR=ArenaMalloc<outboard::${arena#*=}>"
        list "$kernels" "$prefix${arena%=*}-coalesced.ptx.gz" -DOUTBOARD_ARENA \
            "-DOUTBOARD_ALLOCATOR=JoiningArenaMalloc<outboard::${arena#*=}>"
    done
    # What the kernels are without an allocator.
    list "$kernels" "${prefix}Empty.ptx.gz" -DOUTBOARD_ALLOCATOR=EmptyMalloc
    list "$kernels" "${prefix}Linked.ptx.gz" -rdc=true -DOUTBOARD_LINKED -DOUTBOARD_ALLOCATOR=LinkedMalloc

    # Programs of objects: visited by the heap, or by pointers to what an allocator gave.
    for program in wator traffic life generation nbody collision structure sugarscape; do
        list_program "$program" ObjectHeap -DOUTBOARD_OBJECTS
        list_program "$program" BitmapAlloc -DOUTBOARD_ALLOCATOR=BitmapAlloc
        list_program "$program" BitMalloc -DOUTBOARD_ALLOCATOR=outboard::BitMalloc
        list_program "$program" CudaMalloc -DOUTBOARD_ALLOCATOR=outboard::CudaMalloc
        list_program "$program" CudaMalloc-buffered \
            '-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::Buffered<outboard::CudaMalloc>>'
        for allocator in CMalloc CFMalloc CMMalloc CFMMalloc; do
            list_program "$program" "$allocator-coalesced" "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::$allocator>"
        done
        list_program "$program" Aos -DOUTBOARD_ARRAYS=AOS
        list_program "$program" Soa -DOUTBOARD_ARRAYS=SOA
    done
    # A k-d tree's build: allocators as the paper has them, and more. Not fused, so that a CPU comes to the same tree.
    for allocator in AtomicMalloc AWMalloc $CHUNKS CudaMalloc; do
        case $allocator in
            AtomicMalloc | AWMalloc) form="outboard::Uncoalesced<outboard::$allocator>" ;;
            *) form=outboard::$allocator ;;
        esac
        list_program kdtree "$allocator" -fmad=false "-DOUTBOARD_ALLOCATOR=$form"
    done
    list_program kdtree CudaMalloc-buffered -fmad=false \
        '-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::Buffered<outboard::CudaMalloc>>'
    for allocator in BitMalloc CudaMalloc; do
        list_program kdtree "$allocator-arena" -fmad=false -DOUTBOARD_ARENA "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
    done
    # Programs that measure requests alone.
    list_program objects ObjectHeap -DOUTBOARD_OBJECTS
    list_program arena Bump -DOUTBOARD_BUMP
    list_program xmalloc XMalloc -DOUTBOARD_ALLOCATOR=outboard::XMalloc
    for queues in 1 4 64; do
        list_program xmalloc "CudaMalloc-buffered$queues" "-DOUTBOARD_ALLOCATOR=XMallocBy<$queues>"
    done
    list_program xmalloc CudaMalloc-bufferedonly16 '-DOUTBOARD_ALLOCATOR=BufferedBy<16>'
    list_program xmalloc CudaMalloc-coalesced '-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::CudaMalloc>'
    for program in xmalloc objects; do
        list_program "$program" BitMalloc -DOUTBOARD_ALLOCATOR=outboard::BitMalloc
        list_program "$program" CudaMalloc -DOUTBOARD_ALLOCATOR=outboard::CudaMalloc
        list_program "$program" CudaMalloc-buffered \
            '-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::Buffered<outboard::CudaMalloc>>'
    done
    for allocator in CMalloc CFMalloc CMMalloc CFMMalloc; do
        list_program objects "$allocator-coalesced" "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::$allocator>"
    done
    for allocator in BitMalloc CFMMalloc CudaMalloc; do
        list_program arena "$allocator" "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
        list_program arena "$allocator-arena" -DOUTBOARD_ARENA "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
    done
} | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 cuda-backend/ptx.sh --make || exit 1

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
