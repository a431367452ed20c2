#!/bin/sh
# Makes all PTX that is checked in from the CUDA sources, those of the bench and of tests included, and the list of headers.
# Needs nvcc and ptxas of CUDA 13; the build doesn't. PTX whose sources haven't changed stays as it is.
#
#   cuda-backend/ptx.sh           makes what is missing or stale
#   cuda-backend/ptx.sh --check   only says what that would be
#
# Each PTX names, in its first lines, the SHA-256 over its own name, this script (so, the options), its source and all
# headers. PtxTest finds by it what is stale.
set -eu
export LC_ALL=C

ALLOCATORS='AtomicMalloc AWMalloc CMalloc CFMalloc CMMalloc CFMMalloc CudaMalloc'
# The oldest GPU that nvcc 13 knows, and an old version of PTX, which all drivers that JCuda works with can read. nvcc
# writes its own version, whatever it uses; that the older one is enough, without hints that it doesn't know, is what ptxas
# is asked.
ARCHITECTURE=75
PTX_VERSION=7.0

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
stale=0

fail() {
    printf 'ptx: %s\n' "$1" >&2
    exit 1
}

# make SOURCE TARGET [OPTION...]
make() {
    source=$1
    target=$2
    shift 2
    name=$(basename "$target")
    hash=$({ printf '%s\n' "$name" && cat cuda-backend/ptx.sh "$source" "$cuda"/outboard/*.cuh; } | sha256sum)
    hash=${hash%% *}
    stem=$(basename "$source" .cu | tr - _)
    if head -n 3 "$target" 2>/dev/null | grep -q "$hash"; then
        return
    fi
    stale=$((stale + 1))
    printf '%s\n' "$target"
    if $check; then
        return
    fi
    nvcc -ptx -arch="compute_$ARCHITECTURE" -std=c++17 -I "$cuda" "$@" "$source" -o "$scratch/nvcc.ptx" ||
        fail "source=$source must compile for $target"
    {
        printf '// Made by cuda-backend/ptx.sh from %s: do not edit.\n' "$(basename "$source")"
        printf '// SHA-256 of what it was made from: %s\n' "$hash"
        # In names of what belongs to one file, the first number is made from the folder.
        sed -E -e '/^\/\/ Compiler Build ID/d' -e '/^[[:space:]]*\.file[[:space:]]/d' \
            -e '/^[[:space:]]*\.pragma "used_bytes_mask/d' -e "s/^\.version .*/.version $PTX_VERSION/" \
            -e "s/[0-9a-f]{8}(_[0-9]+_${stem}_cu_)/00000000\1/g" "$scratch/nvcc.ptx"
    } >"$scratch/made.ptx"
    ptxas -arch="sm_$ARCHITECTURE" -c "$scratch/made.ptx" -o "$scratch/cubin" ||
        fail "target=$target must be PTX $PTX_VERSION"
    mkdir -p "$(dirname "$target")"
    mv "$scratch/made.ptx" "$target"
}

# make_each SOURCE PREFIX [OPTION...]: for all allocators, PREFIX<allocator>.ptx and PREFIX<allocator>-coalesced.ptx
make_each() {
    from=$1
    prefix=$2
    shift 2
    for allocator in $ALLOCATORS; do
        make "$from" "$prefix$allocator.ptx" "$@" "-DOUTBOARD_ALLOCATOR=outboard::$allocator"
        make "$from" "$prefix$allocator-coalesced.ptx" "$@" \
            "-DOUTBOARD_ALLOCATOR=outboard::Coalesced<outboard::$allocator>"
    done
}

make "$cuda/device_heap.cu" "$resources/ptx/device_heap.ptx"
make_each "$cuda/allocator.cu" "$resources/ptx/" -rdc=true
for source in cuda-backend/src/test/resources/io/outboard/cuda/*.cu; do
    make "$source" "${source%.cu}.ptx" -rdc=true
done
for kernels in bench/src/main/cuda/*.cu; do
    if [ -f "$kernels" ]; then
        prefix=bench/src/main/resources/io/outboard/bench/kernels/$(basename "$kernels" .cu)-
        make_each "$kernels" "$prefix"
        # What the kernels are without an allocator.
        make "$kernels" "${prefix}Empty.ptx" -DOUTBOARD_ALLOCATOR=EmptyMalloc
    fi
done

(cd "$cuda" && ls outboard/*.cuh) >"$scratch/headers.txt"
if ! cmp -s "$scratch/headers.txt" "$resources/include/headers.txt"; then
    stale=$((stale + 1))
    printf '%s\n' "$resources/include/headers.txt"
    if ! $check; then
        mkdir -p "$resources/include"
        mv "$scratch/headers.txt" "$resources/include/headers.txt"
    fi
fi
if $check && [ "$stale" -gt 0 ]; then
    fail "$stale files must be made anew by cuda-backend/ptx.sh"
fi
