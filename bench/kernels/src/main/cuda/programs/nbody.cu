// Bodies that attract each other, and never end.
#include "bodies.cuh"
