/* Part of "nova:native": system calls on files. One that fails returns its negative errno value,
 * and prelude/fs_errors.js makes the exception. */
#include "bindings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Flags of open(), spelled alike in prelude/fs.js. */
enum { OPEN_READ = 1, OPEN_WRITE = 2, OPEN_APPEND = 4, OPEN_CREATE = 8, OPEN_TRUNCATE = 16, OPEN_EXCLUSIVE = 32 };

static JSValue result_of(JSContext *ctx, int64_t result)
{
    return JS_NewInt64(ctx, result < 0 ? -(int64_t)errno : result);
}

/* A path as C string; NULL when it has a NUL inside (then errno is EINVAL) or on an exception. */
static const char *path_of(JSContext *ctx, JSValueConst value)
{
    size_t length;
    const char *path = JS_ToCStringLen(ctx, &length, value);
    if (path && strlen(path) != length) {
        JS_FreeCString(ctx, path);
        errno = EINVAL;
        return NULL;
    }
    return path;
}

static JSValue bad_path(JSContext *ctx)
{
    return JS_HasException(ctx) ? JS_EXCEPTION : JS_NewInt32(ctx, -EINVAL);
}

static int open_flags(int flags)
{
    int mode = flags & OPEN_WRITE ? (flags & OPEN_READ ? O_RDWR : O_WRONLY) : O_RDONLY;
    return mode | (flags & OPEN_APPEND ? O_APPEND : 0) | (flags & OPEN_CREATE ? O_CREAT : 0) |
           (flags & OPEN_TRUNCATE ? O_TRUNC : 0) | (flags & OPEN_EXCLUSIVE ? O_EXCL : 0);
}

static JSValue js_open(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int flags, mode;
    if (JS_ToInt32(ctx, &flags, argv[1]) || JS_ToInt32(ctx, &mode, argv[2]))
        return JS_EXCEPTION;
    const char *path = path_of(ctx, argv[0]);
    if (!path)
        return bad_path(ctx);
    JSValue result = result_of(ctx, open(path, open_flags(flags), mode));
    JS_FreeCString(ctx, path);
    return result;
}

static JSValue js_close(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int fd;
    if (JS_ToInt32(ctx, &fd, argv[0]))
        return JS_EXCEPTION;
    return result_of(ctx, close(fd));
}

int read_whole_file(const char *path, int fd, char **bytes, size_t *length)
{
    struct stat info;
    int opened = path ? open(path, O_RDONLY) : fd, failure = 0;
    if (opened < 0)
        return errno;
    size_t capacity = 16 * 1024, used = 0;
    if (fstat(opened, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            failure = EISDIR;
        else if (info.st_size > 0x7ffffff0)
            failure = EFBIG;
        else if (info.st_size > 0)
            capacity = (size_t)info.st_size + 1; /* one more, so that the end is seen */
    }
    char *room = failure ? NULL : malloc(capacity + 1);
    if (!room && !failure)
        failure = ENOMEM;
    while (!failure) {
        if (used == capacity) {
            char *larger = realloc(room, 2 * capacity + 1);
            if (!larger) {
                failure = ENOMEM;
                break;
            }
            room = larger;
            capacity *= 2;
        }
        ssize_t count = read(opened, room + used, capacity - used);
        if (count < 0)
            failure = errno;
        if (count <= 0)
            break;
        used += (size_t)count;
    }
    if (path)
        close(opened);
    if (failure) {
        free(room);
        return failure;
    }
    room[used] = 0;
    *bytes = room;
    *length = used;
    return 0;
}

/* readFile(path or descriptor) -> ArrayBuffer or -errno. */
static JSValue js_read_file(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    char *bytes;
    size_t length;
    int fd = -1;
    const char *path = NULL;
    if (JS_IsNumber(argv[0])) {
        if (JS_ToInt32(ctx, &fd, argv[0]))
            return JS_EXCEPTION;
        output_flush(); /* a prompt is seen before standard input is read */
    } else if (!(path = path_of(ctx, argv[0]))) {
        return bad_path(ctx);
    }
    int failure = read_whole_file(path, fd, &bytes, &length);
    JS_FreeCString(ctx, path);
    return failure ? JS_NewInt32(ctx, -failure) : array_buffer(ctx, bytes, length);
}

/* read(descriptor, view, position) and write(descriptor, view, position) -> count or -errno; a
 * negative position is the descriptor's own. */
enum { TRANSFER_READ, TRANSFER_WRITE };

static JSValue js_transfer(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int direction)
{
    int fd;
    int64_t position;
    uint8_t *bytes;
    size_t length;
    ssize_t count;
    if (JS_ToInt32(ctx, &fd, argv[0]) || JS_ToInt64(ctx, &position, argv[2]))
        return JS_EXCEPTION;
    output_flush();
    if (!bytes_of(ctx, argv[1], &bytes, &length))
        return JS_EXCEPTION;
    if (direction == TRANSFER_READ)
        count = position < 0 ? read(fd, bytes, length) : pread(fd, bytes, length, position);
    else
        count = position < 0 ? write(fd, bytes, length) : pwrite(fd, bytes, length, position);
    return result_of(ctx, count);
}

static JSValue stat_result(JSContext *ctx, const struct stat *info)
{
    double values[] = {
        (double)info->st_dev,
        (double)info->st_ino,
        info->st_mode,
        (double)info->st_nlink,
        (double)info->st_size,
        (double)info->st_atim.tv_sec * 1e3 + (double)info->st_atim.tv_nsec / 1e6,
        (double)info->st_mtim.tv_sec * 1e3 + (double)info->st_mtim.tv_nsec / 1e6,
        (double)info->st_ctim.tv_sec * 1e3 + (double)info->st_ctim.tv_nsec / 1e6,
    };
    JSValue array = JS_NewArray(ctx);
    for (uint32_t i = 0; i < sizeof values / sizeof *values; i++)
        JS_DefinePropertyValueUint32(ctx, array, i, JS_NewFloat64(ctx, values[i]), JS_PROP_C_W_E);
    return array;
}

/* stat(path or descriptor, follow) -> [dev, ino, mode, nlink, size, atime, mtime, ctime] (times
 * in milliseconds) or -errno. */
static JSValue js_stat(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    struct stat info;
    int result, fd, follow = JS_ToBool(ctx, argv[1]);
    if (JS_IsNumber(argv[0])) {
        if (JS_ToInt32(ctx, &fd, argv[0]))
            return JS_EXCEPTION;
        result = fstat(fd, &info);
    } else {
        const char *path = path_of(ctx, argv[0]);
        if (!path)
            return bad_path(ctx);
        result = follow ? stat(path, &info) : lstat(path, &info);
        JS_FreeCString(ctx, path);
    }
    return result < 0 ? result_of(ctx, result) : stat_result(ctx, &info);
}

/* readDirectory(path) -> [name, is directory, name, ...] without . and .., or -errno. */
static JSValue js_read_directory(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    const char *path = path_of(ctx, argv[0]);
    if (!path)
        return bad_path(ctx);
    DIR *directory = opendir(path);
    JS_FreeCString(ctx, path);
    if (!directory)
        return result_of(ctx, -1);
    JSValue names = JS_NewArray(ctx);
    uint32_t count = 0;
    struct dirent *entry;
    errno = 0;
    while ((entry = readdir(directory))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (JS_DefinePropertyValueUint32(ctx, names, count++, JS_NewString(ctx, entry->d_name), JS_PROP_C_W_E) < 0 ||
            JS_DefinePropertyValueUint32(ctx, names, count++, JS_NewBool(ctx, entry->d_type == DT_DIR), JS_PROP_C_W_E) < 0)
            break;
    }
    int failure = errno;
    closedir(directory);
    if (failure || JS_HasException(ctx)) {
        JS_FreeValue(ctx, names);
        return JS_HasException(ctx) ? JS_EXCEPTION : JS_NewInt32(ctx, -failure);
    }
    return names;
}

enum { PATH_MKDIR, PATH_RMDIR, PATH_UNLINK };

static JSValue js_path_call(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int which)
{
    const char *path = path_of(ctx, argv[0]);
    if (!path)
        return bad_path(ctx);
    int result = which == PATH_MKDIR ? mkdir(path, 0777) : which == PATH_RMDIR ? rmdir(path) : unlink(path);
    JSValue value = result_of(ctx, result);
    JS_FreeCString(ctx, path);
    return value;
}

enum { PATHS_RENAME, PATHS_LINK, PATHS_SYMLINK };

static JSValue js_two_paths_call(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int which)
{
    const char *from = path_of(ctx, argv[0]), *to = from ? path_of(ctx, argv[1]) : NULL;
    JSValue value;
    if (from && to) {
        int result = which == PATHS_RENAME ? rename(from, to) : which == PATHS_LINK ? link(from, to) : symlink(from, to);
        value = result_of(ctx, result);
    } else {
        value = bad_path(ctx);
    }
    JS_FreeCString(ctx, from);
    JS_FreeCString(ctx, to);
    return value;
}

static JSValue js_truncate(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int fd;
    int64_t size;
    if (JS_ToInt32(ctx, &fd, argv[0]) || JS_ToInt64(ctx, &size, argv[1]))
        return JS_EXCEPTION;
    return result_of(ctx, ftruncate(fd, size));
}

static struct timespec timespec_of(double ms)
{
    double seconds = __builtin_floor(ms / 1e3);
    return (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)((ms - seconds * 1e3) * 1e6)};
}

/* setTimes(path, access time, modification time), in milliseconds. */
static JSValue js_set_times(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    double access_ms, modification_ms;
    if (JS_ToFloat64(ctx, &access_ms, argv[1]) || JS_ToFloat64(ctx, &modification_ms, argv[2]))
        return JS_EXCEPTION;
    const char *path = path_of(ctx, argv[0]);
    if (!path)
        return bad_path(ctx);
    struct timespec times[] = {timespec_of(access_ms), timespec_of(modification_ms)};
    JSValue result = result_of(ctx, utimensat(AT_FDCWD, path, times, 0));
    JS_FreeCString(ctx, path);
    return result;
}

const JSCFunctionListEntry FILE_FUNCTIONS[] = {
    JS_CFUNC_DEF("open", 3, js_open),
    JS_CFUNC_DEF("close", 1, js_close),
    JS_CFUNC_DEF("readFile", 1, js_read_file),
    JS_CFUNC_MAGIC_DEF("readAt", 3, js_transfer, TRANSFER_READ),
    JS_CFUNC_MAGIC_DEF("writeAt", 3, js_transfer, TRANSFER_WRITE),
    JS_CFUNC_DEF("stat", 2, js_stat),
    JS_CFUNC_DEF("readDirectory", 1, js_read_directory),
    JS_CFUNC_MAGIC_DEF("mkdir", 1, js_path_call, PATH_MKDIR),
    JS_CFUNC_MAGIC_DEF("rmdir", 1, js_path_call, PATH_RMDIR),
    JS_CFUNC_MAGIC_DEF("unlink", 1, js_path_call, PATH_UNLINK),
    JS_CFUNC_MAGIC_DEF("rename", 2, js_two_paths_call, PATHS_RENAME),
    JS_CFUNC_MAGIC_DEF("link", 2, js_two_paths_call, PATHS_LINK),
    JS_CFUNC_MAGIC_DEF("symlink", 2, js_two_paths_call, PATHS_SYMLINK),
    JS_CFUNC_DEF("truncate", 2, js_truncate),
    JS_CFUNC_DEF("setTimes", 3, js_set_times),
};
const int FILE_FUNCTION_COUNT = sizeof FILE_FUNCTIONS / sizeof *FILE_FUNCTIONS;
