// A program with names of its own that the allocators' parts have, too: of namespace outboard it sees only what is
// meant for it. That it compiles is the test.
#define OUTBOARD_PLATFORM "fiber_platform.h"
#include "outboard/atomic_malloc.cuh"
#include "outboard/aw_malloc.cuh"
#include "outboard/bit_malloc.cuh"
#include "outboard/c_malloc.cuh"
#include "outboard/cf_malloc.cuh"
#include "outboard/cfm_malloc.cuh"
#include "outboard/cm_malloc.cuh"
#include "outboard/xmalloc.cuh"

using namespace outboard;

namespace {

struct CircularMalloc {};
struct SharedStart {};
struct StartPerMultiprocessor {};
struct SeparateState {};
struct FusedState {};
struct Sight {};
struct Move {};
struct NearClaim {};
struct Range1 {};
struct Search {};
struct Share {};

template <class... Parts>
constexpr int nextOpen(Parts...) {
    return sizeof...(Parts);
}

constexpr int openAbove() { return 0; }
constexpr int closeAbove() { return 0; }
constexpr int opened() { return 0; }
constexpr int openedInstead() { return 0; }
constexpr int isKnown() { return 0; }
constexpr int isKnownAbove() { return 0; }
constexpr int changesSoFar() { return 0; }
constexpr int mayHaveMissed() { return 0; }
constexpr int takeTogether() { return 0; }
constexpr int claim() { return 0; }
constexpr int give() { return 0; }
constexpr int least() { return 0; }
constexpr int look() { return 0; }
constexpr int settle() { return 0; }
constexpr int use() { return 0; }

}  // namespace

int main() {
    const int parts = nextOpen(
            CircularMalloc(), SharedStart(), StartPerMultiprocessor(), SeparateState(), FusedState(), Sight(), Move(), NearClaim(),
            Range1(), Search(), Share());
    const int results = openAbove() + closeAbove() + opened() + openedInstead() + isKnown() + isKnownAbove()
            + changesSoFar() + mayHaveMissed() + takeTogether() + claim() + give() + least() + look() + settle() + use();
    return parts == 11 && results == 0 ? 0 : 1;
}
