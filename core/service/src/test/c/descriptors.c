/* This program sends one packet of 64 bytes with descriptors. Its arguments are the socket, and how many. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST = 8 };

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int count = argc == 3 ? atoi(argv[2]) : MOST + 1;
    if (count < 1 || count > MOST || strlen(argv[1]) >= sizeof address.sun_path) {
        fprintf(stderr, "descriptors SOCKET 1..%d\n", MOST);
        return 2;
    }
    strcpy(address.sun_path, argv[1]);
    int to = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (to < 0 || connect(to, (struct sockaddr *) &address, sizeof address) != 0) {
        perror("connect");
        return 1;
    }
    char bytes[64] = {0};
    union {
        char room[CMSG_SPACE(MOST * sizeof(int))];
        struct cmsghdr first;
    } control = {{0}};
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room};
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    control.first.cmsg_level = SOL_SOCKET;
    control.first.cmsg_type = SCM_RIGHTS;
    control.first.cmsg_len = CMSG_LEN(count * sizeof(int));
    int sent[MOST];
    for (int i = 0; i < count; i++) {
        sent[i] = open("/dev/zero", O_RDONLY);
    }
    memcpy(CMSG_DATA(&control.first), sent, count * sizeof(int));
    if (sendmsg(to, &message, 0) != (ssize_t) sizeof bytes) {
        perror("sendmsg");
        return 1;
    }
    return 0;
}
