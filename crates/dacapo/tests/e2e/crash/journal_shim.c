/* Preloaded into the real program by the crash tests: ends it, stops it, or lets its disk run full, at an exact write
 * of the journal. The journal is written in one call a line, so write N is event N.
 *
 * CRASH_AT = before:N | after:N | torn:N | full:N, or `signal:N` for a Ctrl-C once event N is written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long writes;

static int is_journal(int fd) {
    static const char wanted[] = "/journal.jsonl";
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    size_t tail = sizeof wanted - 1;
    return length >= (ssize_t)tail && memcmp(path + length - tail, wanted, tail) == 0;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

ssize_t write(int fd, const void *bytes, size_t count) {
    const char *plan = getenv("CRASH_AT");
    if (!plan || !is_journal(fd))
        return syscall(SYS_write, fd, bytes, count);
    const char *number = strchr(plan, ':');
    long at = number ? atol(number + 1) : -1;
    long now = writes++;
    if (now < at)
        return syscall(SYS_write, fd, bytes, count);
    switch (plan[0]) {
    case 'b':
        die();
    case 'a':
        syscall(SYS_write, fd, bytes, count);
        die();
    case 's': {
        ssize_t written = syscall(SYS_write, fd, bytes, count);
        if (now == at)
            kill(getpid(), SIGINT);
        return written;
    }
    case 't':
        syscall(SYS_write, fd, bytes, count / 2);
        die();
    default: /* full: room for half a line, then for nothing */
        if (now == at)
            return syscall(SYS_write, fd, bytes, count / 2);
        errno = ENOSPC;
        return -1;
    }
}
