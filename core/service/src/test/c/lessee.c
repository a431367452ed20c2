/* This client of a lender was written by docs/service-protocol.md alone:  lessee SOCKET NAME BYTES
 * It leases so much, checks that the memory is zero, writes to it, gives it back, and says so. It ends with 1 if the lease is
 * refused or anything is wrong. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO = 1, LEASE = 3, RETURN = 4, EASED = 5, WELCOME = 65, LEASED = 66, REFUSED = 68, RETURNED = 69, PRESS = 70 };

/* A message is sent like this on a little-endian machine. */
struct message {
    int32_t type, request;
    int64_t a, b, c;
    char text[32];
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void say(int lender, int32_t type, int32_t request, int64_t a, int64_t b, const char *text) {
    struct message message = {.type = type, .request = request, .a = a, .b = b};
    memcpy(message.text, text, strnlen(text, sizeof message.text));
    if (send(lender, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) fail("send");
}

/* Returns the answer to a request, and its descriptor or -1. Meanwhile, answers that there is nothing to give back. */
static struct message hear(int lender, int32_t request, int *descriptor) {
    for (;;) {
        struct message message;
        struct iovec part = {&message, sizeof message};
        union {
            struct cmsghdr header;
            char bytes[CMSG_SPACE(sizeof(int))];
        } extra;
        struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
        if (recvmsg(lender, &packet, MSG_CMSG_CLOEXEC) != sizeof message) fail("the lender is gone");
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        *descriptor = -1;
        if (header && header->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(header), sizeof(int));
        if (message.type == PRESS) say(lender, EASED, 0, 0, 0, "");
        else if (message.request == request) return message;
    }
}

int main(int count, char **arguments) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 4 || strlen(arguments[1]) >= sizeof address.sun_path) return 2;
    strcpy(address.sun_path, arguments[1]);
    const int64_t bytes = atoll(arguments[3]);
    int file;

    const int lender = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (lender < 0 || connect(lender, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    say(lender, HELLO, 1, 1, 0, arguments[2]);
    const struct message welcome = hear(lender, 1, &file);
    if (welcome.type != WELCOME || strncmp(welcome.text, "memory", sizeof welcome.text) != 0) return 1;

    say(lender, LEASE, 2, bytes, 1000, "");
    const struct message lease = hear(lender, 2, &file);
    if (lease.type == REFUSED) printf("refused: %lld\n", (long long)lease.a);
    if (lease.type != LEASED || file < 0) return 1;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) fail("mmap");
    close(file);
    for (int64_t i = 0; i < bytes; i++) {
        if (memory[i] != 0) return 1;
    }
    memset(memory, 0x5a, bytes);
    printf("leased %lld bytes, all zero\n", (long long)lease.b);

    munmap(memory, bytes);
    say(lender, RETURN, 3, lease.a, 0, "");
    if (hear(lender, 3, &file).type != RETURNED) return 1;
    puts("returned");
    return 0;
}
