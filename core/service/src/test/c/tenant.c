/* This client leases memory and gives it back at random until it is killed:  tenant SOCKET NAME SEED
 * Fresh memory must be zero. The client writes its own pattern, and checks the pattern before memory goes back. If anything is
 * wrong, it says so and ends with 1. After a byte from standard input, it prints how much it holds, and waits for another byte. */
#define main lessee
#include "lessee.c"
#undef main

#include <poll.h>

enum { MOST_LEASES = 8, UNIT = 1 << 21 };

struct lease {
    int64_t number, bytes;
    int64_t *memory;
};

static uint64_t state;

/* Returns a number below the bound, uniformly enough. */
static uint64_t draw(uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
}

static void wrong(const char *what) {
    printf("wrong: %s\n", what);
    fflush(stdout);
    exit(1);
}

/* Checks every 64th word, which is eight words of a page. */
static void expect(const struct lease *lease, int64_t value, const char *what) {
    for (int64_t i = 0; i < lease->bytes / 8; i += 64) {
        if (lease->memory[i] != value) wrong(what);
    }
}

int main(int count, char **arguments) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 4 || strlen(arguments[1]) >= sizeof address.sun_path) return 2;
    strcpy(address.sun_path, arguments[1]);
    state = strtoull(arguments[3], NULL, 10);
    const int64_t own = 1 + getpid();
    struct lease leases[MOST_LEASES];
    int held = 0, file;
    int64_t heldBytes = 0;

    const int lender = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (lender < 0 || connect(lender, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    say(lender, HELLO, 1, 1, 0, arguments[2]);
    if (hear(lender, 1, &file).type != WELCOME) return 1;
    for (int32_t request = 2;; request++) {
        struct pollfd input = {.fd = 0, .events = POLLIN};
        char byte;
        if (poll(&input, 1, 0) == 1) {
            if (read(0, &byte, 1) != 1) return 0;
            printf("%lld\n", (long long)heldBytes);
            fflush(stdout);
            if (read(0, &byte, 1) != 1) return 0;
        }
        if (held < MOST_LEASES && draw(2) == 0) {
            say(lender, LEASE, request, (int64_t)(1 + draw(4)) * UNIT, 0, "");
            const struct message answer = hear(lender, request, &file);
            if (answer.type != LEASED) continue;
            struct lease *lease = &leases[held];
            lease->number = answer.a;
            lease->bytes = answer.b;
            lease->memory = mmap(NULL, lease->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (lease->memory == MAP_FAILED) fail("mmap");
            close(file);
            held++;
            heldBytes += lease->bytes;
            expect(lease, 0, "a fresh lease isn't zero");
            for (int64_t i = 0; i < lease->bytes / 8; i += 64) lease->memory[i] = own;
        } else if (held > 0) {
            const int which = (int)draw(held);
            for (int i = 0; i < held; i++) expect(&leases[i], own, "somebody else has written here");
            munmap(leases[which].memory, leases[which].bytes);
            heldBytes -= leases[which].bytes;
            say(lender, RETURN, request, leases[which].number, 0, "");
            if (hear(lender, request, &file).type != RETURNED) wrong("not returned");
            leases[which] = leases[--held];
        }
    }
}
