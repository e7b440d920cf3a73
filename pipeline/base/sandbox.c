// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "pipeline/base/outfile.h"

/* ---- Landlock ------------------------------------------------------------------------------- */

/* Its interface, of which the headers of older systems lack parts. The numbers of its calls are the
 * same on all machines. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1 << 0, PATH_BENEATH = 1 };
enum { SCOPE_ABSTRACT_SOCKETS = 1 << 0, SCOPE_SIGNALS = 1 << 1 };
enum { BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1 };
enum {
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    REMOVE_FOLDER = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_FOLDER = 1 << 7,
    MAKE_FILE = 1 << 8,
    RENAME_ACROSS = 1 << 13, /* version 2 */
    TRUNCATE = 1 << 14,      /* 3 */
    CONTROL_DEVICE = 1 << 15 /* 5 */
};
enum {
    READING = READ_FILE | READ_FOLDER,
    WRITING = READING | WRITE_FILE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE |
              RENAME_ACROSS | TRUNCATE,
    OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE | CONTROL_DEVICE,
};

typedef struct ruleset {
    uint64_t files, network, scopes;
} ruleset;

/* Packed in the kernel, too. */
typedef struct __attribute__((packed)) rule_below {
    uint64_t allowed;
    int32_t parent;
} rule_below;

static int landlock_version(void)
{
    const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

/* All that a version knows about files. */
static uint64_t known(int version)
{
    return (UINT64_C(1) << (version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13)) - 1;
}

static void allow(const sandbox *s, const char *path, uint64_t what)
{
    struct stat status;
    const int fd = s->rules < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    const bool folder = !fstat(fd, &status) && S_ISDIR(status.st_mode);
    const rule_below rule = {what & (folder ? UINT64_MAX : OF_FILES) & known(landlock_version()),
                             fd};
    syscall(ADD_RULE, s->rules, PATH_BENEATH, &rule, 0);
    close(fd);
}

/* Folders of the libraries that are loaded: those that they load lie there, too. */
static int allow_library(struct dl_phdr_info *info, size_t size, void *s)
{
    char *copy = info->dlpi_name[0] == '/' ? strdup(info->dlpi_name) : NULL;
    (void)size;
    if (copy)
        allow(s, dirname(copy), READING);
    free(copy);
    return 0;
}

static void allow_list(const sandbox *s, const char *folders)
{
    char path[PATH_MAX];
    for (; folders && *folders; folders += strspn(folders, ":")) {
        const size_t length = strcspn(folders, ":");
        if (length && snprintf(path, sizeof path, "%.*s", (int)length, folders) < PATH_MAX)
            allow(s, path, READING);
        folders += length;
    }
}

/* An older kernel refuses a larger set, and one of what it does not know. */
static int create_rules(bool connects)
{
    const int version = landlock_version();
    const ruleset all = {known(version), connects ? 0 : BIND_TCP | CONNECT_TCP,
                         SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS};
    const size_t size = version >= 6   ? sizeof all
                        : version >= 4 ? offsetof(ruleset, scopes)
                                       : offsetof(ruleset, network);
    return version ? (int)syscall(CREATE_RULESET, &all, size, 0) : -1;
}

sandbox sandbox_begin(bool connects)
{
    static const char *const own[] = {
        "/usr",           "/lib",         "/lib64",        "/etc/ld.so.cache",
        "/etc/localtime", "/dev/urandom", "/sys",          "/proc/cpuinfo",
        "/proc/meminfo",  "/proc/stat",   "/proc/loadavg", "/proc/sys/vm"};
    static const char *const names[] = {
        "/etc/resolv.conf", "/etc/hosts",          "/etc/nsswitch.conf", "/etc/host.conf",
        "/etc/gai.conf",    "/etc/services",       "/etc/ssl",           "/etc/pki",
        "/etc/gnutls",      "/etc/ca-certificates"};
    const sandbox s = {create_rules(connects), connects};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        allow(&s, own[i], READING);
    for (size_t i = 0; connects && i < sizeof names / sizeof *names; i++)
        allow(&s, names[i], READING);
    allow_list(&s, getenv("LD_LIBRARY_PATH"));
    dl_iterate_phdr(allow_library, (void *)&s);
    allow(&s, "/proc/self", READING | WRITE_FILE);
    allow(&s, "/dev/null", READING | WRITE_FILE | TRUNCATE);
    return s;
}

void sandbox_reads(const sandbox *s, const char *path)
{
    struct stat status;
    const bool device = !stat(path, &status) && S_ISCHR(status.st_mode);
    allow(s, path, device ? READING | WRITE_FILE | CONTROL_DEVICE : READING);
}

static void allow_beside(const sandbox *s, const char *path, uint64_t what)
{
    char *target = outfile_target(path);
    if (target)
        allow(s, dirname(target), what);
    free(target);
}

void sandbox_reads_beside(const sandbox *s, const char *path)
{
    allow_beside(s, path, READING);
}

void sandbox_writes(const sandbox *s, const char *folder)
{
    allow(s, folder, WRITING);
}

void sandbox_writes_beside(const sandbox *s, const char *path)
{
    struct stat status;
    if (!stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        allow(s, path, READING | WRITE_FILE | TRUNCATE | CONTROL_DEVICE);
    else
        allow_beside(s, path, WRITING);
}

/* ---- seccomp -------------------------------------------------------------------------------- */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

/* Sanitisers trace the process when they look for leaks. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITISED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITISED
#endif
#endif

/* Calls that no run makes. Landlock says which files may be opened, but not whose mode, owner,
 * times and attributes may change. */
static const int refused[] = {
    /* programs and other processes */
    SYS_execve, SYS_execveat, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_tkill,
    SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_setpriority, SYS_ioprio_set, SYS_migrate_pages,
    SYS_move_pages, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal,
#ifndef SANITISED
    SYS_ptrace,
#endif
    /* files */
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_open_by_handle_at,
    SYS_name_to_handle_at, SYS_fanotify_init, SYS_inotify_add_watch,
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    /* memory of others */
    SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open,
    /* the system */
    SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_open_tree,
    SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_swapon, SYS_swapoff,
    SYS_reboot, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_acct,
    SYS_quotactl, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
    SYS_sethostname, SYS_setdomainname, SYS_syslog, SYS_vhangup, SYS_personality, SYS_setuid,
    SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset,
    /* large surfaces of the kernel; io_uring does what this filter does not see */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_add_key, SYS_request_key, SYS_keyctl};
static const int sockets[] = {SYS_socket, SYS_socketpair, SYS_connect, SYS_bind,
                              SYS_listen, SYS_accept,     SYS_accept4};

enum { FILTER_MAX = 512, OTHERS = 64 }; /* instructions; those that are not of a list */
_Static_assert(2 * (sizeof refused + sizeof sockets) / sizeof *refused + OTHERS <= FILTER_MAX,
               "room for all");
typedef struct filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short length;
} filter;

static void add(filter *f, unsigned code, unsigned operand, unsigned if_true, unsigned if_false)
{
    f->code[f->length++] =
        (struct sock_filter){(uint16_t)code, (uint8_t)if_true, (uint8_t)if_false, operand};
}

static void load(filter *f, size_t at)
{
    add(f, BPF_LD | BPF_W | BPF_ABS, (unsigned)at, 0, 0);
}

static void end_with(filter *f, unsigned what)
{
    add(f, BPF_RET | BPF_K, what, 0, 0);
}

/* On entry and return the number of the call is loaded. */
static void refuse(filter *f, int call, int reason)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
    end_with(f, SECCOMP_RET_ERRNO | (unsigned)reason);
}

/* A call is refused or allowed as its argument `which` has, by `test`, to do with `value`. */
static void look_at(filter *f, int call, unsigned which, unsigned test, unsigned value,
                    bool refuse_those)
{
    const unsigned no = SECCOMP_RET_ERRNO | EPERM;
    add(f, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4);
    load(f, offsetof(struct seccomp_data, args) + which * sizeof(uint64_t)); /* little-endian */
    add(f, BPF_JMP | test | BPF_K, value, 0, 1);
    end_with(f, refuse_those ? no : SECCOMP_RET_ALLOW);
    end_with(f, refuse_those ? SECCOMP_RET_ALLOW : no);
}

static bool install(bool connects)
{
    enum { SET_FILTER = 1, ALL_THREADS = 1 << 0, FULL_SPEED = 1 << 2 };
    enum { OTHER_ABI = 0x40000000, TYPE_FOR_TERMINAL = 0x5412 };
    const unsigned new_spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    static filter f;
    f.length = 0;
    load(&f, offsetof(struct seccomp_data, arch));
    add(&f, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    end_with(&f, SECCOMP_RET_KILL_PROCESS);
    load(&f, offsetof(struct seccomp_data, nr));
    add(&f, BPF_JMP | BPF_JGE | BPF_K, OTHER_ABI, 0, 1);
    end_with(&f, SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        refuse(&f, refused[i], EPERM);
    for (size_t i = 0; !connects && i < sizeof sockets / sizeof *sockets; i++)
        refuse(&f, sockets[i], EPERM);
    refuse(&f, SYS_clone3, ENOSYS); /* whose flags lie in memory; libc then uses clone */
    look_at(&f, SYS_clone, 0, BPF_JSET, new_spaces, true);
    look_at(&f, SYS_kill, 0, BPF_JEQ, (unsigned)getpid(), false);
    look_at(&f, SYS_tgkill, 0, BPF_JEQ, (unsigned)getpid(), false);
    look_at(&f, SYS_prlimit64, 0, BPF_JEQ, 0, false);
    look_at(&f, SYS_ioctl, 1, BPF_JEQ, TYPE_FOR_TERMINAL, true);
    end_with(&f, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {f.length, f.code};
    /* Kernels before 5.16 slow a filtered process down, unless told not to. */
    return !syscall(SYS_seccomp, SET_FILTER, ALL_THREADS | FULL_SPEED, &program) ||
           !syscall(SYS_seccomp, SET_FILTER, ALL_THREADS, &program);
}

static bool has_seccomp(void)
{
    return prctl(PR_GET_SECCOMP) >= 0;
}

#else

static bool install(bool connects)
{
    (void)connects;
    return false;
}

static bool has_seccomp(void)
{
    return false;
}

#endif

/* ---- both ----------------------------------------------------------------------------------- */

static void describe(char text[64], int version, bool filtered)
{
    char landlock[32] = "";
    if (version)
        snprintf(landlock, sizeof landlock, "Landlock (ABI %d)", version);
    snprintf(text, 64, "%s%s%s%s", landlock, version && filtered ? " and " : "",
             filtered ? "seccomp" : "", version || filtered ? "" : "none");
}

static char raised[64] = "none";
static bool whole;

bool sandbox_is_whole(void)
{
    return whole;
}

void sandbox_enter(sandbox *s)
{
    /* Rules are kept with the inode, which this keeps. */
    const int own = open("/proc/self", O_PATH | O_CLOEXEC);
    const bool fixed = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const bool fenced = fixed && s->rules >= 0 && !syscall(RESTRICT_SELF, s->rules, 0);
    const bool filtered = fixed && install(s->connects);
    (void)own;
    if (s->rules >= 0)
        close(s->rules);
    s->rules = -1;
    whole = fenced && filtered;
    describe(raised, fenced ? landlock_version() : 0, filtered);
}

const char *sandbox_raised(void)
{
    return raised;
}

const char *sandbox_possible(void)
{
    static char text[64];
    describe(text, landlock_version(), has_seccomp());
    return text;
}
