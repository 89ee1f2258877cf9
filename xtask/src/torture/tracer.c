/* Runs a program and everything it starts under ptrace, and strikes at one exact system call.
 *
 *   tracer class=runner what=change n=12 when=before strike=runner,guard report=FILE -- PROGRAM ARGS…
 *
 * class   whose calls are counted: runner, guard, git, any of these (own)
 * what    change: calls that change files or locks; lock: opening a file that ends in `.lock`; space: calls that need room
 * n       the call that is struck, from 0
 * when    before the kernel carries it out, or after it
 * strike  who gets SIGKILL: self, or classes with commas between; all is everybody, at once, as when the power fails.
 *         `errno:28:5` kills nobody: this call and four more (of what=space) fail with that error instead.
 *
 * Classes are told by the command line: __guard, __rehearse… and git by name; the rest of our own program is the runner.
 * The exit status is the program's own. The report says how many calls there were, and whom the strike hit.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum class { OTHER, RUNNER, GUARD, GIT, CLASSES };
static const char *const names[CLASSES] = {"other", "runner", "guard", "git"};

/* A thread that is traced. */
struct thread {
    pid_t tid, process;
    enum class class;
    char fails, strikes; /* the call it is in is to fail; is to be struck when it is done */
    char waits;          /* its first stop came before the event that tells of it */
};

static struct thread *threads;
static size_t used, room;

static unsigned counted_classes, struck_classes;
static enum { CHANGE, LOCK, SPACE } what;
static long at = -1, calls, failures;
static int after, strike_self, strike_all, error_number;
static FILE *report;
static int struck;

static struct thread *find(pid_t tid) {
    for (size_t i = 0; i < used; i++)
        if (threads[i].tid == tid)
            return &threads[i];
    return NULL;
}

static struct thread *add(pid_t tid, pid_t process, enum class class) {
    if (used == room) {
        room = room ? room * 2 : 64;
        threads = realloc(threads, room * sizeof *threads);
        if (!threads)
            abort();
    }
    threads[used] = (struct thread){.tid = tid, .process = process, .class = class};
    return &threads[used++];
}

static void forget(pid_t tid) {
    struct thread *thread = find(tid);
    if (thread)
        *thread = threads[--used];
}

static pid_t process_of(pid_t tid) {
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    FILE *status = fopen(path, "re");
    pid_t process = tid;
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Tgid: %d", &process) == 1)
            break;
    if (status)
        fclose(status);
    return process;
}

/* Whether it runs the same file as the first process did, which is the program. */
static int is_the_program(pid_t pid) {
    static char program[4096];
    char path[64], file[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    ssize_t length = readlink(path, file, sizeof file - 1);
    if (length <= 0)
        return 0;
    file[length] = 0;
    if (!program[0])
        memcpy(program, file, length + 1);
    return !strcmp(program, file);
}

static enum class classify(pid_t pid) {
    char path[64], line[4096] = {0};
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return OTHER;
    ssize_t length = read(file, line, sizeof line - 2);
    close(file);
    if (length <= 0)
        return OTHER;
    const char *slash = strrchr(line, '/'), *name = slash ? slash + 1 : line, *first = line + strlen(line) + 1;
    if (!strcmp(name, "git") || !strncmp(name, "git-", 4))
        return GIT;
    if (!strcmp(first, "__guard"))
        return GUARD;
    if (!strncmp(first, "__rehearse", 10) || !strcmp(first, "__native") || !strcmp(first, "__deliver"))
        return OTHER;
    return is_the_program(pid) ? RUNNER : OTHER;
}

static int is_counted(const struct thread *thread) { return counted_classes >> thread->class & 1; }

static void text_of(pid_t tid, unsigned long address, char *text, size_t size) {
    /* Never across a page border in one go: the next page may not be there. */
    size_t have = 0;
    while (have + 1 < size) {
        size_t step = 256 - (address + have) % 256;
        if (step > size - 1 - have)
            step = size - 1 - have;
        struct iovec here = {text + have, step}, there = {(void *)(address + have), step};
        if (process_vm_readv(tid, &here, 1, &there, 1, 0) != (ssize_t)step)
            break;
        size_t length = strnlen(text + have, step);
        have += length;
        if (length < step)
            break;
    }
    text[have] = 0;
}

static int on_disk(pid_t tid, int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", tid, file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/')
        return 0;
    path[length] = 0;
    return strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6);
}

/* Whether a call changes files; `needs_room` where a full disk would refuse it. */
static int changes(pid_t tid, const struct __ptrace_syscall_info *info, int *needs_room, int *lock) {
    const __uint64_t *args = info->entry.args;
    unsigned long path = 0;
    int flags = 0, opens = 0;
    *needs_room = *lock = 0;
    switch (info->entry.nr) {
#ifdef SYS_open
    case SYS_open: path = args[0], flags = args[1], opens = 1; break;
    case SYS_creat: path = args[0], flags = O_CREAT | O_WRONLY, opens = 1; break;
    case SYS_mkdir: case SYS_link: case SYS_symlink: case SYS_rename: *needs_room = 1; return 1;
    case SYS_unlink: case SYS_rmdir: case SYS_chmod: return 1;
#endif
    case SYS_openat: path = args[1], flags = args[2], opens = 1; break;
    case SYS_write: case SYS_pwrite64: case SYS_writev:
        *needs_room = 1;
        return on_disk(tid, args[0]);
    case SYS_mkdirat: case SYS_linkat: case SYS_symlinkat: case SYS_renameat2:
#ifdef SYS_renameat
    case SYS_renameat:
#endif
        *needs_room = 1;
        return 1;
    case SYS_ftruncate: case SYS_truncate: case SYS_unlinkat: case SYS_fchmod: case SYS_fchmodat: case SYS_fsync:
    case SYS_fdatasync: case SYS_flock:
        return 1;
    default: return 0;
    }
    if (!opens || !(flags & (O_CREAT | O_TRUNC)))
        return 0;
    char text[4096];
    text_of(tid, path, text, sizeof text);
    if (!strncmp(text, "/dev/", 5) || !strncmp(text, "/proc/", 6))
        return 0;
    size_t length = strlen(text);
    *lock = length > 5 && !strcmp(text + length - 5, ".lock");
    *needs_room = flags & O_CREAT;
    return 1;
}

/* The call is not carried out; the kernel answers "no such call", and on its way back we say what it was. */
static void skip_call(pid_t tid) {
#if defined __x86_64__
    ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, orig_rax), -1L);
#elif defined __aarch64__
    int none = -1;
    struct iovec value = {&none, sizeof none};
    ptrace(PTRACE_SETREGSET, tid, 0x404 /* NT_ARM_SYSTEM_CALL */, &value);
#endif
}

static void set_result(pid_t tid, long result) {
#if defined __x86_64__
    ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rax), result);
#elif defined __aarch64__
    struct user_regs_struct regs;
    struct iovec value = {&regs, sizeof regs};
    ptrace(PTRACE_GETREGSET, tid, 1 /* NT_PRSTATUS */, &value);
    regs.regs[0] = result;
    ptrace(PTRACE_SETREGSET, tid, 1, &value);
#endif
}

static void strike(pid_t self, enum class class) {
    struck = 1;
    fprintf(report, "struck %s %ld\n", names[class], calls - 1);
    /* Children are threads of their own here: each process once, and the one that was counted first. */
    for (size_t i = 0; i < used; i++) {
        struct thread *thread = &threads[i];
        int hit = strike_all || (strike_self ? thread->process == self : struck_classes >> thread->class & 1);
        if (hit && thread->tid == thread->process && kill(thread->process, SIGKILL) == 0)
            fprintf(report, "killed %s %d\n", names[thread->class], thread->process);
    }
    fflush(report);
}

static void at_call(struct thread *thread) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, sizeof info, &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
        if (thread->fails)
            set_result(thread->tid, -error_number);
        thread->fails = 0;
        if (thread->strikes) {
            thread->strikes = 0;
            strike(thread->process, thread->class);
        }
        return;
    }
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_counted(thread))
        return;
    int needs_room, lock;
    if (!changes(thread->tid, &info, &needs_room, &lock) || (what == LOCK && !lock) || (what == SPACE && !needs_room))
        return;
    long now = calls++;
    if (error_number) {
        if (now >= at && now < at + failures) {
            if (!struck++)
                fprintf(report, "struck %s %ld\n", names[thread->class], now);
            thread->fails = 1;
            skip_call(thread->tid);
        }
    } else if (now == at && after) {
        thread->strikes = 1;
    } else if (now == at) {
        strike(thread->process, thread->class);
    }
}

static unsigned classes(char *words, int *self, int *all) {
    unsigned set = 0;
    for (char *word = strtok(words, ","); word; word = strtok(NULL, ",")) {
        if (!strcmp(word, "self"))
            *self = 1;
        else if (!strcmp(word, "all"))
            *all = 1;
        else if (!strcmp(word, "own"))
            set |= 1 << RUNNER | 1 << GUARD | 1 << GIT;
        for (int class = 0; class < CLASSES; class++)
            if (!strcmp(word, names[class]))
                set |= 1u << class;
    }
    return set;
}

static char **plan(char **words) {
    int unused;
    for (; *words && strcmp(*words, "--"); words++) {
        char *value = strchr(*words, '=');
        if (!value)
            exit(125);
        *value++ = 0;
        if (!strcmp(*words, "class"))
            counted_classes = classes(value, &unused, &unused);
        else if (!strcmp(*words, "what"))
            what = *value == 'l' ? LOCK : *value == 's' ? SPACE : CHANGE;
        else if (!strcmp(*words, "n"))
            at = atol(value);
        else if (!strcmp(*words, "when"))
            after = *value == 'a';
        else if (!strcmp(*words, "report"))
            report = fopen(value, "we");
        else if (!strcmp(*words, "strike") && sscanf(value, "errno:%d:%ld", &error_number, &failures) != 2)
            struck_classes = classes(value, &strike_self, &strike_all);
    }
    if (!report || !*words || !words[1])
        exit(125);
    return words + 1;
}

static void resume(struct thread *thread, int signal) {
    /* Once it has struck nobody is counted any more, and all go at full speed. */
    int stops = (is_counted(thread) && (!struck || error_number)) || thread->fails || thread->strikes;
    ptrace(stops ? PTRACE_SYSCALL : PTRACE_CONT, thread->tid, 0, signal);
}

/* A child was started: whoever of the two tells of it first. */
static void began(pid_t tid, const struct thread *parent) {
    struct thread *thread = find(tid);
    enum class class = parent->class;
    pid_t process = process_of(tid);
    if (!thread) {
        add(tid, process, class);
        return;
    }
    thread->class = class;
    thread->process = process;
    if (thread->waits) {
        thread->waits = 0;
        resume(thread, 0);
    }
}

static void stopped(pid_t tid, int status) {
    struct thread *thread = find(tid);
    int signal = WSTOPSIG(status), event = status >> 16;
    if (!thread) {
        add(tid, process_of(tid), OTHER)->waits = 1;
        return;
    }
    unsigned long message = 0;
    switch (event) {
    case PTRACE_EVENT_FORK: case PTRACE_EVENT_VFORK: case PTRACE_EVENT_CLONE:
        ptrace(PTRACE_GETEVENTMSG, tid, 0, &message);
        began(message, thread);
        resume(find(tid), 0);
        return;
    case PTRACE_EVENT_EXEC:
        ptrace(PTRACE_GETEVENTMSG, tid, 0, &message);
        if ((pid_t)message != tid)
            forget(message);
        thread = find(tid);
        thread->process = tid;
        thread->class = classify(tid);
        resume(thread, 0);
        return;
    case PTRACE_EVENT_STOP:
        if (signal == SIGTRAP)
            resume(thread, 0);
        else /* stopped as by a shell, until somebody lets it go on */
            ptrace(PTRACE_LISTEN, tid, 0, 0);
        return;
    default: break;
    }
    if (signal == (SIGTRAP | 0x80)) {
        at_call(thread);
        thread = find(tid);
        signal = 0;
    }
    resume(thread, signal);
}

int main(int argc, char **argv) {
    (void)argc;
    char **program = plan(argv + 1);
    int go[2];
    if (pipe2(go, O_CLOEXEC))
        return 125;
    pid_t first = fork();
    if (first == 0) {
        char byte;
        if (read(go[0], &byte, 1) == 1)
            execvp(program[0], program);
        _exit(126);
    }
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (first < 0 || ptrace(PTRACE_SEIZE, first, 0, options)) {
        perror("tracer");
        kill(first, SIGKILL);
        return 125;
    }
    add(first, first, OTHER);
    if (write(go[1], "g", 1) != 1)
        return 125;
    int code = 125, status;
    while (used > 0) {
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno != EINTR)
            break;
        if (tid <= 0)
            continue;
        if (WIFSTOPPED(status)) {
            stopped(tid, status);
            continue;
        }
        if (tid == first)
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        forget(tid);
    }
    fprintf(report, "calls %ld\nexit %d\n", calls, code);
    fclose(report);
    return code;
}
