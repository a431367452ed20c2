// A list that grows while a kernel runs: each thread puts a node in front of it. Linked with one of Outboard's in-kernel
// allocators by KernelModule.link. Made into PTX by cuda-backend/ptx.sh; by hand: nvcc -ptx -rdc=true linked-list.cu
extern "C" __device__ void* outboardMalloc(void* heap, size_t bytes);
extern "C" __device__ void outboardFree(void* heap, void* pointer);

struct Node {
    Node* next;
    unsigned value;
};

extern "C" __global__ void build(void* heap, Node** list) {
    Node* node = static_cast<Node*>(outboardMalloc(heap, sizeof(Node)));
    if (node != nullptr) {
        node->value = blockIdx.x * blockDim.x + threadIdx.x;
        // The list is read by later kernels only, so a node may be in front before it knows what comes after it.
        node->next = reinterpret_cast<Node*>(atomicExch(
                reinterpret_cast<unsigned long long*>(list), reinterpret_cast<unsigned long long>(node)));
    }
}

// One thread walks the list, adds the values up and frees the nodes.
extern "C" __global__ void takeDown(void* heap, Node** list, unsigned long long* sum) {
    while (*list != nullptr) {
        Node* node = *list;
        *sum += node->value;
        *list = node->next;
        outboardFree(heap, node);
    }
}
