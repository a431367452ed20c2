// Bodies that attract each other, and merge where they come close.
#define OUTBOARD_MERGING
#include "bodies.cuh"
