/* The module "nova:native": what the prelude needs and JavaScript cannot do.
 *
 * Only the prelude can import it; its functions trust their caller's argument types as far as
 * QuickJS's own conversions do. A system call that fails returns its negative errno value, and
 * the prelude makes the exception. None of them loops without bound.
 */
#include "nova.h"
#include "nova_js.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#define IMPORT(name) __attribute__((import_module("nova"), import_name(#name)))

IMPORT(call) extern int32_t host_call(const void *request, int32_t length, void *reply, int32_t capacity);
IMPORT(take) extern void host_take(void *reply, int32_t length);

int getentropy(void *, size_t);

/* Flags of open(), spelled alike in prelude/fs.js. */
enum { OPEN_READ = 1, OPEN_WRITE = 2, OPEN_APPEND = 4, OPEN_CREATE = 8, OPEN_TRUNCATE = 16, OPEN_EXCLUSIVE = 32 };

static JSValue result_of(JSContext *ctx, int64_t result)
{
    return JS_NewInt64(ctx, result < 0 ? -(int64_t)errno : result);
}

/* ---- text and bytes ---------------------------------------------------------------------- */

/* The bytes of an ArrayBuffer or a view. The pointer holds until JavaScript runs again. */
static bool bytes_of(JSContext *ctx, JSValueConst value, uint8_t **bytes, size_t *length)
{
    size_t offset, size, element;
    JSValue buffer = JS_GetTypedArrayBuffer(ctx, value, &offset, length, &element);
    if (JS_IsException(buffer)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        *bytes = JS_GetArrayBuffer(ctx, length, value);
        return *bytes != NULL;
    }
    *bytes = JS_GetArrayBuffer(ctx, &size, buffer);
    JS_FreeValue(ctx, buffer);
    if (!*bytes)
        return false;
    *bytes += offset;
    return true;
}

static void free_malloced(JSRuntime *rt, void *opaque, void *bytes)
{
    free(bytes);
}

static JSValue array_buffer(JSContext *ctx, void *bytes, size_t length)
{
    return JS_NewArrayBuffer(ctx, bytes, length, free_malloced, NULL, false);
}

void replace_lone_surrogates(char *utf8, size_t length)
{
    for (size_t i = 0; i + 2 < length; i++)
        if ((uint8_t)utf8[i] == 0xED && (uint8_t)utf8[i + 1] >= 0xA0)
            memcpy(utf8 + i, "\xEF\xBF\xBD", 3);
}

/* A string as well-formed UTF-8. QuickJS hands out the inside of a pure ASCII string, which has
 * nothing to replace; every other result is a copy of its own. */
static const char *utf8_of(JSContext *ctx, JSValueConst value, size_t *length)
{
    const char *text = JS_ToCStringLen(ctx, length, value);
    if (text)
        replace_lone_surrogates((char *)text, *length);
    return text;
}

static JSValue js_write(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int fd;
    size_t length;
    if (JS_ToInt32(ctx, &fd, argv[0]))
        return JS_EXCEPTION;
    if (JS_IsString(argv[1])) {
        const char *text = utf8_of(ctx, argv[1], &length);
        if (!text)
            return JS_EXCEPTION;
        output_write(fd, text, length);
        JS_FreeCString(ctx, text);
    } else {
        uint8_t *bytes;
        if (!bytes_of(ctx, argv[1], &bytes, &length))
            return JS_EXCEPTION;
        output_write(fd, (const char *)bytes, length);
    }
    return JS_UNDEFINED;
}

static JSValue js_flush(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    output_flush();
    return JS_UNDEFINED;
}

static JSValue js_encode_utf8(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t length;
    const char *text = utf8_of(ctx, argv[0], &length);
    if (!text)
        return JS_EXCEPTION;
    JSValue buffer = JS_NewArrayBufferCopy(ctx, (const uint8_t *)text, length);
    JS_FreeCString(ctx, text);
    return buffer;
}

/* Length of the well-formed UTF-8 sequence at `bytes`, or minus the length of the maximal
 * ill-formed part to replace (Unicode 3.9, table 3-7); 0 when it only lacks further bytes. */
static int utf8_sequence(const uint8_t *bytes, size_t left)
{
    uint8_t lead = bytes[0], low = 0x80, high = 0xBF;
    int need;
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return -1;
    need = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    for (int i = 1; i <= need; i++) {
        if ((size_t)i >= left)
            return 0;
        if (bytes[i] < low || bytes[i] > high)
            return -i;
        low = 0x80;
        high = 0xBF;
    }
    return need + 1;
}

/* decodeUtf8(bytes, fatal) -> string, or null for ill-formed input when fatal. */
static JSValue js_decode_utf8(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    uint8_t *bytes;
    size_t length, i, bad = 0;
    int fatal = JS_ToBool(ctx, argv[1]);
    if (!bytes_of(ctx, argv[0], &bytes, &length))
        return JS_EXCEPTION;
    for (i = 0; i < length;) {
        int n = utf8_sequence(bytes + i, length - i);
        if (n <= 0)
            bad++;
        i += n > 0 ? (size_t)n : n < 0 ? (size_t)-n : length - i;
    }
    if (bad == 0)
        return JS_NewStringLen(ctx, (const char *)bytes, length);
    if (fatal)
        return JS_NULL;
    char *clean = malloc(length + 3 * bad), *out = clean;
    if (!clean)
        return JS_ThrowOutOfMemory(ctx);
    for (i = 0; i < length;) {
        int n = utf8_sequence(bytes + i, length - i);
        if (n > 0) {
            memcpy(out, bytes + i, (size_t)n);
            out += n;
            i += (size_t)n;
        } else {
            memcpy(out, "\xEF\xBF\xBD", 3);
            out += 3;
            i += n < 0 ? (size_t)-n : length - i;
        }
    }
    JSValue text = JS_NewStringLen(ctx, clean, (size_t)(out - clean));
    free(clean);
    return text;
}

/* incompleteUtf8(bytes) -> how many bytes at the end begin a sequence that may go on. */
static JSValue js_incomplete_utf8(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    uint8_t *bytes;
    size_t length;
    if (!bytes_of(ctx, argv[0], &bytes, &length))
        return JS_EXCEPTION;
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        uint8_t byte = bytes[length - back];
        if (byte >= 0xC0)
            return JS_NewInt32(ctx, utf8_sequence(bytes + length - back, back) == 0 ? (int)back : 0);
        if (byte < 0x80)
            break;
    }
    return JS_NewInt32(ctx, 0);
}

static JSValue js_decode_latin1(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    uint8_t *bytes;
    size_t length;
    if (!bytes_of(ctx, argv[0], &bytes, &length))
        return JS_EXCEPTION;
    char *utf8 = malloc(2 * length + 1), *out = utf8;
    if (!utf8)
        return JS_ThrowOutOfMemory(ctx);
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] >= 0x80) {
            *out++ = (char)(0xC0 | bytes[i] >> 6);
            *out++ = (char)(0x80 | (bytes[i] & 0x3F));
        } else {
            *out++ = (char)bytes[i];
        }
    }
    JSValue text = JS_NewStringLen(ctx, utf8, (size_t)(out - utf8));
    free(utf8);
    return text;
}

static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* encodeBase64(bytes) -> string with padding (RFC 4648, section 4). */
static JSValue js_encode_base64(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    uint8_t *bytes;
    size_t length;
    if (!bytes_of(ctx, argv[0], &bytes, &length))
        return JS_EXCEPTION;
    char *text = malloc((length + 2) / 3 * 4 + 1), *out = text;
    if (!text)
        return JS_ThrowOutOfMemory(ctx);
    for (size_t i = 0; i < length; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (i + 1 < length)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < length)
            group |= bytes[i + 2];
        *out++ = BASE64[group >> 18];
        *out++ = BASE64[group >> 12 & 63];
        *out++ = i + 1 < length ? BASE64[group >> 6 & 63] : '=';
        *out++ = i + 2 < length ? BASE64[group & 63] : '=';
    }
    JSValue result = JS_NewStringLen(ctx, text, (size_t)(out - text));
    free(text);
    return result;
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* decodeBase64(text) -> ArrayBuffer; both alphabets; stops at the first other character. */
static JSValue js_decode_base64(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t length, count = 0;
    const char *text = JS_ToCStringLen(ctx, &length, argv[0]);
    if (!text)
        return JS_EXCEPTION;
    uint8_t *bytes = malloc(length / 4 * 3 + 3);
    if (!bytes) {
        JS_FreeCString(ctx, text);
        return JS_ThrowOutOfMemory(ctx);
    }
    uint32_t group = 0;
    int bits = 0;
    for (size_t i = 0; i < length; i++) {
        int value = base64_value(text[i]);
        if (value < 0)
            break;
        group = group << 6 | (uint32_t)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[count++] = (uint8_t)(group >> bits);
        }
    }
    JS_FreeCString(ctx, text);
    return array_buffer(ctx, bytes, count);
}

/* ---- files ------------------------------------------------------------------------------- */

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

/* ---- the process ------------------------------------------------------------------------- */

static JSValue js_exit(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int code;
    if (JS_ToInt32(ctx, &code, argv[0]))
        return JS_EXCEPTION;
    end_program(code);
}

double monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Math.random: xorshift128+, as QuickJS's own, but seeded in the run; QuickJS seeds its state
 * when the context is made, which is in the snapshot. */
static uint64_t random_state[2];

static JSValue js_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    if ((random_state[0] | random_state[1]) == 0 && getentropy(random_state, sizeof random_state) < 0)
        return JS_ThrowInternalError(ctx, "no random bytes");
    uint64_t x = random_state[0], y = random_state[1];
    random_state[0] = y;
    x ^= x << 23;
    random_state[1] = x ^ y ^ (x >> 17) ^ (y >> 26);
    return JS_NewFloat64(ctx, (double)((random_state[1] + y) >> 11) * 0x1p-53);
}

static JSValue js_now(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    return JS_NewFloat64(ctx, monotonic_ms());
}

/* fillRandom(view): bytes of the host's generator, 256 at a time as getentropy allows. */
static JSValue js_fill_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    uint8_t *bytes;
    size_t length;
    if (!bytes_of(ctx, argv[0], &bytes, &length))
        return JS_EXCEPTION;
    while (length > 0) {
        size_t part = length < 256 ? length : 256;
        if (getentropy(bytes, part) < 0)
            return JS_ThrowInternalError(ctx, "no random bytes");
        bytes += part;
        length -= part;
    }
    return JS_UNDEFINED;
}

/* environment() -> [name, value, ...], read from the host each time: libc's own copy would be
 * the one that the snapshot was made with. */
static JSValue js_environment(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t entries, size;
    uint32_t count = 0;
    if (__wasi_environ_sizes_get(&entries, &size) != 0)
        return JS_ThrowInternalError(ctx, "no environment");
    char **pointers = malloc((entries + 1) * sizeof *pointers), *text = malloc(size + 1);
    JSValue list = pointers && text ? JS_NewArray(ctx) : JS_ThrowOutOfMemory(ctx);
    if (!JS_IsException(list) && __wasi_environ_get((uint8_t **)pointers, (uint8_t *)text) == 0) {
        for (size_t i = 0; i < entries; i++) {
            const char *equals = strchr(pointers[i], '=');
            if (!equals)
                continue;
            JSValue name = JS_NewStringLen(ctx, pointers[i], (size_t)(equals - pointers[i]));
            JS_DefinePropertyValueUint32(ctx, list, count++, name, JS_PROP_C_W_E);
            JS_DefinePropertyValueUint32(ctx, list, count++, JS_NewString(ctx, equals + 1), JS_PROP_C_W_E);
        }
    }
    free(pointers);
    free(text);
    return list;
}

static JSValue js_memory_bytes(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    JSMemoryUsage usage;
    JS_ComputeMemoryUsage(JS_GetRuntime(ctx), &usage);
    JSValue pair = JS_NewArray(ctx);
    JS_DefinePropertyValueUint32(ctx, pair, 0, JS_NewFloat64(ctx, (double)__builtin_wasm_memory_size(0) * 65536), JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, pair, 1, JS_NewInt64(ctx, usage.malloc_size), JS_PROP_C_W_E);
    return pair;
}

/* hostCall(bytes) -> ArrayBuffer: a brokered call. */
static JSValue js_host_call(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    uint8_t *request;
    size_t length;
    uint8_t reply[4096];
    output_flush();
    if (!bytes_of(ctx, argv[0], &request, &length))
        return JS_EXCEPTION;
    uint32_t size = nova_host_call(request, (uint32_t)length, reply, sizeof reply);
    if (size <= sizeof reply)
        return JS_NewArrayBufferCopy(ctx, reply, size);
    uint8_t *room = malloc(size);
    if (!room)
        return JS_ThrowOutOfMemory(ctx);
    nova_host_take(room, size);
    return array_buffer(ctx, room, size);
}

/* ---- looking at values ------------------------------------------------------------------- */

/* classOf(value) -> the number of its class in QuickJS (quickjs.c, JS_CLASS_...), 0 for what is
 * not an object. prelude/inspect.js names the ones it shows. */
static JSValue js_class_of(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    return JS_NewInt32(ctx, JS_IsObject(argv[0]) ? (int)JS_GetClassID(argv[0]) : 0);
}

/* promiseState(promise) -> [state, result]: 0 pending, 1 fulfilled, 2 rejected. */
static JSValue js_promise_state(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    JSPromiseStateEnum state = JS_PromiseState(ctx, argv[0]);
    JSValue pair = JS_NewArray(ctx);
    JS_DefinePropertyValueUint32(ctx, pair, 0, JS_NewInt32(ctx, (int)state), JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, pair, 1, JS_PromiseResult(ctx, argv[0]), JS_PROP_C_W_E);
    return pair;
}

/* proxyTarget(proxy) -> its target. QuickJS has no function for this; the target is the first
 * field of JSProxyData in the release that the recipe pins. */
static JSValue js_proxy_target(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    JSClassID class_id;
    const JSValue *proxy = JS_GetAnyOpaque(argv[0], &class_id);
    return proxy ? JS_DupValue(ctx, *proxy) : JS_UNDEFINED;
}

static JSValue run_microtask(JSContext *ctx, int argc, JSValueConst *argv)
{
    return JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);
}

static JSValue js_queue_microtask(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    if (JS_EnqueueJob(ctx, run_microtask, 1, argv) < 0)
        return JS_EXCEPTION;
    return JS_UNDEFINED;
}

/* compileScript(text, name) -> function (exports, require, module, __filename, __dirname). */
static JSValue js_compile_script(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t length;
    const char *text = JS_ToCStringLen(ctx, &length, argv[0]);
    if (!text)
        return JS_EXCEPTION;
    const char *name = JS_ToCString(ctx, argv[1]);
    JSValue function = name ? compile_script(ctx, text, length, name) : JS_EXCEPTION;
    JS_FreeCString(ctx, name);
    JS_FreeCString(ctx, text);
    return function;
}

static const JSCFunctionListEntry FUNCTIONS[] = {
    JS_CFUNC_DEF("write", 2, js_write),
    JS_CFUNC_DEF("flush", 0, js_flush),
    JS_CFUNC_DEF("encodeUtf8", 1, js_encode_utf8),
    JS_CFUNC_DEF("decodeUtf8", 2, js_decode_utf8),
    JS_CFUNC_DEF("incompleteUtf8", 1, js_incomplete_utf8),
    JS_CFUNC_DEF("decodeLatin1", 1, js_decode_latin1),
    JS_CFUNC_DEF("encodeBase64", 1, js_encode_base64),
    JS_CFUNC_DEF("decodeBase64", 1, js_decode_base64),
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
    JS_CFUNC_DEF("exit", 1, js_exit),
    JS_CFUNC_DEF("now", 0, js_now),
    JS_CFUNC_DEF("random", 0, js_random),
    JS_CFUNC_DEF("fillRandom", 1, js_fill_random),
    JS_CFUNC_DEF("environment", 0, js_environment),
    JS_CFUNC_DEF("memoryBytes", 0, js_memory_bytes),
    JS_CFUNC_DEF("hostCall", 1, js_host_call),
    JS_CFUNC_DEF("classOf", 1, js_class_of),
    JS_CFUNC_DEF("promiseState", 1, js_promise_state),
    JS_CFUNC_DEF("proxyTarget", 1, js_proxy_target),
    JS_CFUNC_DEF("queueMicrotask", 1, js_queue_microtask),
    JS_CFUNC_DEF("compileScript", 2, js_compile_script),
};

static int define_exports(JSContext *ctx, JSModuleDef *module)
{
    return JS_SetModuleExportList(ctx, module, FUNCTIONS, sizeof FUNCTIONS / sizeof *FUNCTIONS);
}

JSModuleDef *bindings_module(JSContext *ctx, const char *name)
{
    JSModuleDef *module = JS_NewCModule(ctx, name, define_exports);
    if (module)
        JS_AddModuleExportList(ctx, module, FUNCTIONS, sizeof FUNCTIONS / sizeof *FUNCTIONS);
    return module;
}
