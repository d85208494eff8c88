/* Errors that nobody caught, and promises that nobody waited for: printed, reported, fatal. */
#include "embedding.h"

#include "nova.h"

#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes;
    size_t length, capacity;
};

static void append(struct text *out, const char *bytes, size_t length)
{
    if (out->length + length > out->capacity)
        length = out->capacity - out->length;
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

static void append_json_string(struct text *out, const char *bytes, size_t length)
{
    static const char HEX[] = "0123456789abcdef";
    append(out, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 || c == 0x7f) {
            char escape[] = {'\\', 'u', '0', '0', HEX[c >> 4], HEX[c & 15]};
            append(out, escape, sizeof escape);
        } else {
            if (c == '"' || c == '\\')
                append(out, "\\", 1);
            append(out, bytes + i, 1);
        }
    }
    append(out, "\"", 1);
}

/* Each field is cut so that the whole stays under the 64 KiB of the contract, escapes included. */
#define FIELD_BYTES 2048
#define REPORT_BYTES (4 * (6 * FIELD_BYTES + 16))

static void report_fields(const char *const fields[4], const size_t lengths[4])
{
    static const char *const KEYS[] = {"{\"type\":", ",\"message\":", ",\"module\":", ",\"path\":"};
    static char json[REPORT_BYTES + 8];
    struct text out = {json, 0, REPORT_BYTES};
    for (int i = 0; i < 4; i++) {
        size_t length = lengths[i];
        if (length > FIELD_BYTES)
            for (length = FIELD_BYTES; length > 0 && ((unsigned char)fields[i][length] & 0xC0) == 0x80;)
                length--; /* cut between characters */
        append(&out, KEYS[i], strlen(KEYS[i]));
        append_json_string(&out, fields[i], length);
    }
    append(&out, "}", 1);
    nova_host_report(json, (uint32_t)out.length);
}

void report_plain(const char *type, const char *message)
{
    const char *fields[] = {type, message, "", ""};
    size_t lengths[] = {strlen(type), strlen(message), 0, 0};
    output_write(2, "Uncaught ", 9);
    output_write(2, type, lengths[0]);
    output_write(2, ": ", 2);
    output_write(2, message, lengths[1]);
    output_write(2, "\n", 1);
    report_fields(fields, lengths);
}

/* Prints and reports what prelude/main.js says about the error; false when it could not. */
static bool report_described(JSContext *ctx, JSValueConst description)
{
    const char *texts[5] = {0};
    size_t lengths[5];
    bool complete = JS_IsArray(ctx, description) > 0;
    for (uint32_t i = 0; complete && i < 5; i++) {
        JSValue field = JS_GetPropertyUint32(ctx, description, i);
        texts[i] = JS_IsString(field) ? JS_ToCStringLen(ctx, &lengths[i], field) : NULL;
        JS_FreeValue(ctx, field);
        complete = texts[i] != NULL;
        if (complete)
            replace_lone_surrogates((char *)texts[i], lengths[i]);
    }
    if (complete) {
        output_write(2, texts[0], lengths[0]);
        report_fields(texts + 1, lengths + 1);
    }
    for (int i = 0; i < 5; i++)
        JS_FreeCString(ctx, texts[i]);
    return complete;
}

bool is_fatal(JSValue error, bool in_promise)
{
    bool out_of_memory = allocation_failed && JS_IsNull(error);
    release_reserve();
    JSValue arguments[] = {error, JS_NewBool(context, in_promise)};
    JSValue handled = out_of_memory ? JS_FALSE : call_hook(hooks.on_uncaught, 2, (JSValueConst *)arguments);
    if (JS_IsException(handled)) { /* the program's own handler failed: that is the error now */
        JS_FreeValue(context, error);
        arguments[0] = error = JS_GetException(context);
        arguments[1] = JS_FALSE;
    } else if (JS_ToBool(context, handled) > 0) {
        JS_FreeValue(context, error);
        return false;
    }
    JSValue description = out_of_memory ? JS_EXCEPTION : call_hook(hooks.describe, 2, (JSValueConst *)arguments);
    if (!report_described(context, description)) {
        JS_FreeValue(context, JS_GetException(context));
        if (allocation_failed)
            report_plain("InternalError", "out of memory");
        else
            report_plain("Error", "the program threw a value that cannot be shown");
    }
    JS_FreeValue(context, description);
    JS_FreeValue(context, error);
    return true;
}

/* Promises that were rejected while nobody waited for them, in that order. One that gets a
 * handler before the microtasks are done is struck out again. */
static struct rejection {
    JSValue promise, reason;
    bool handled;
} *rejections;
static size_t rejection_count, rejection_capacity, first_unhandled;

void track_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason, JS_BOOL handled, void *opaque)
{
    if (handled) {
        /* Handlers come in the order of the rejections or in the reverse one, mostly. */
        size_t last = rejection_count;
        if (last > first_unhandled && JS_VALUE_GET_PTR(rejections[last - 1].promise) == JS_VALUE_GET_PTR(promise))
            rejections[last - 1].handled = true;
        else
            for (size_t i = first_unhandled; i < last; i++)
                if (JS_VALUE_GET_PTR(rejections[i].promise) == JS_VALUE_GET_PTR(promise))
                    rejections[i].handled = true;
        while (first_unhandled < rejection_count && rejections[first_unhandled].handled)
            first_unhandled++;
        return;
    }
    if (rejection_count == rejection_capacity) {
        size_t capacity = rejection_capacity ? 2 * rejection_capacity : 16;
        struct rejection *larger = realloc(rejections, capacity * sizeof *larger);
        if (!larger) {
            allocation_failed = true;
            return;
        }
        rejections = larger;
        rejection_capacity = capacity;
    }
    rejections[rejection_count++] = (struct rejection){JS_DupValue(ctx, promise), JS_DupValue(ctx, reason), false};
}

/* What rejected the main module's promise was thrown at the top level, and not in a promise that
 * the program made. */
bool rejection_is_fatal(JSValueConst main_promise)
{
    bool fatal = false;
    if (rejection_count == 0)
        return false;
    bool main_failed =
        JS_IsObject(main_promise) && JS_PromiseState(context, main_promise) == JS_PROMISE_REJECTED;
    if (main_failed)
        fatal = is_fatal(JS_PromiseResult(context, main_promise), false);
    for (size_t i = 0; i < rejection_count; i++) {
        struct rejection rejection = rejections[i];
        if (!rejection.handled && !fatal && !main_failed)
            fatal = is_fatal(JS_DupValue(context, rejection.reason), true);
        JS_FreeValue(context, rejection.reason);
        JS_FreeValue(context, rejection.promise);
    }
    rejection_count = first_unhandled = 0;
    return fatal;
}
