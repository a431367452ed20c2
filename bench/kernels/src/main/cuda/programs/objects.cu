// Objects of 64 bytes, one a thread, made by one kernel and destroyed by the next: what makes and destroys of an ObjectHeap cost
// beside malloc and free.
//
//   -DOUTBOARD_OBJECTS          an ObjectHeap
//   -DOUTBOARD_ALLOCATOR='...'  an allocator
#include "requests.cuh"

#ifdef OUTBOARD_OBJECTS

namespace {

struct Thing {
    OUTBOARD_FIELDS((u32, f0)(u32, f1)(u32, f2)(u32, f3)(u32, f4)(u32, f5)(u32, f6)(u32, f7)(u32, f8)(u32, f9)
                    (u32, f10)(u32, f11)(u32, f12)(u32, f13)(u32, f14)(u32, f15))
};

using Things = outboard::ObjectHeap<Thing>;
constexpr u32 FIELDS = 16;

__device__ Things::Object<Thing> thing(const Work& work, u64 held) {
    return Things(&work.objects).at<Thing>(static_cast<u32>(held));
}

template <u32 FIELD = 0, class Function>
__device__ void eachField(const Things::Object<Thing>& object, const Function& function) {
    if constexpr (FIELD < FIELDS) {
        function(FIELD, object.get<FIELD>());
        eachField<FIELD + 1>(object, function);
    }
}

// Objects that threads hold.
struct HeldObjects {
    static constexpr u64 NONE = outboard::NO_OBJECT;

    static __device__ u64 make(const Work& work) { return Things(&work.objects).make<Thing>().id(); }

    static __device__ void end(const Work& work, u64 held) { Things(&work.objects).destroy(thing(work, held)); }

    static __device__ bool isAligned(u64) { return true; }

    static __device__ void write(const Work& work, u64 held, u32 tag) {
        eachField(thing(work, held), [&](u32 field, u32& value) { *const_cast<volatile u32*>(&value) = tag + field; });
    }

    static __device__ bool isRight(const Work& work, u64 held, u32 tag) {
        bool same = true;
        eachField(thing(work, held),
                [&](u32 field, u32& value) { same &= *const_cast<const volatile u32*>(&value) == tag + field; });
        return same;
    }
};

}  // namespace

OUTBOARD_HELD(HeldObjects)

#else

OUTBOARD_HELD(requests::HeldBlocks)

#endif

OUTBOARD_REQUESTS
