/* The JavaScript guest: QuickJS behind the three functions of ../README.md.
 *
 * nova_init   makes the runtime and evaluates the prelude (prelude/...); the snapshot is taken
 *             when it returns, so nothing here may depend on a clock, an environment or chance,
 *             nor touch a path: libc would remember the directories of that moment
 * nova_run    runs one program to its end: main program, then the event loop, then the exit
 *             listeners
 *
 * A program is a module when its name ends in .mjs, or when it parses as a module but not as a
 * script (import, export, top-level await); else it is a script in the manner of CommonJS.
 * prelude/modules.js has the same rule for what a program imports.
 */
#include "nova.h"
#include "nova_js.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wasi/api.h>

size_t malloc_usable_size(void *); /* common/alloc.c */

static JSRuntime *runtime;
static JSContext *context;
/* While the prelude is being evaluated its modules may import each other and nova:native. */
static bool sealed;
/* Given back before an error is described: a program that ended for want of memory has none. */
static void *reserve;
static bool allocation_failed;

/* ---- memory ------------------------------------------------------------------------------ */

/* QuickJS's own functions count nothing on this platform, so that its collector would hardly
 * ever start; these count real sizes, and remember a refusal. */
static void *count_block(JSMallocState *state, void *block)
{
    if (!block) {
        allocation_failed = true;
        return NULL;
    }
    state->malloc_count++;
    state->malloc_size += malloc_usable_size(block);
    return block;
}

static void *js_allocate(JSMallocState *state, size_t size)
{
    return count_block(state, malloc(size));
}

static void js_release(JSMallocState *state, void *block)
{
    if (!block)
        return;
    state->malloc_count--;
    state->malloc_size -= malloc_usable_size(block);
    free(block);
}

static void *js_resize(JSMallocState *state, void *block, size_t size)
{
    if (!block)
        return size ? js_allocate(state, size) : NULL;
    if (size == 0) {
        js_release(state, block);
        return NULL;
    }
    size_t before = malloc_usable_size(block);
    void *moved = realloc(block, size);
    if (!moved) {
        allocation_failed = true;
        return NULL;
    }
    state->malloc_size += malloc_usable_size(moved) - before;
    return moved;
}

static size_t js_usable_size(const void *block)
{
    return malloc_usable_size((void *)block);
}

static const JSMallocFunctions ALLOCATOR = {js_allocate, js_release, js_resize, js_usable_size};

/* ---- the prelude ------------------------------------------------------------------------- */

struct prelude_file {
    const char *name;
    const char *text;
    size_t length;
};

#include "prelude_files.h"

/* What prelude/main.js gives to this file. */
static struct {
    JSValue begin;         /* (header object): called first */
    JSValue resolve;       /* (importing module, specifier) -> canonical name */
    JSValue run_script;    /* (function, name): runs the main program as a CommonJS module */
    JSValue import_script; /* (path, is JSON) -> [exports, name of an export, ...] */
    JSValue exports_of;    /* (path) -> what import_script evaluated */
    JSValue import_meta;   /* (import.meta, path, is main) */
    JSValue drain_ticks;   /* () -> whether process.nextTick callbacks ran */
    JSValue turn;          /* () -> ms to wait, 0 to go on, -1 when nothing is left to do */
    JSValue on_uncaught;   /* (error, in promise) -> whether the program handled it */
    JSValue describe;      /* (error, in promise) -> [text, type, message, module, path] */
    JSValue finish;        /* (exit code or undefined) -> exit code, after the exit listeners */
} hooks;

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static JSValue call_hook(JSValue hook, int argc, JSValueConst *argv)
{
    return JS_Call(context, hook, JS_UNDEFINED, argc, argv);
}

static JSModuleDef *module_of(JSValue compiled)
{
    JSModuleDef *module = JS_VALUE_GET_PTR(compiled);
    JS_FreeValue(context, compiled); /* the context keeps its modules alive */
    return module;
}

static JSModuleDef *load_prelude(JSContext *ctx, const char *name)
{
    if (!strcmp(name, "nova:native"))
        return bindings_module(ctx, name);
    for (size_t i = 0; i < sizeof PRELUDE / sizeof *PRELUDE; i++)
        if (!strcmp(name, PRELUDE[i].name)) {
            JSValue compiled = JS_Eval(ctx, PRELUDE[i].text, PRELUDE[i].length, name,
                                       JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
            return JS_IsException(compiled) ? NULL : module_of(compiled);
        }
    JS_ThrowReferenceError(ctx, "the prelude has no %s", name);
    return NULL;
}

/* ---- programs and modules ---------------------------------------------------------------- */

#define SCRIPT_HEAD "(function (exports, require, module, __filename, __dirname) {"
#define SCRIPT_TAIL "\n})"

static int error_position(JSContext *ctx, JSValueConst error, const char *field)
{
    int32_t number = 0;
    JSValue value = JS_GetPropertyStr(ctx, error, field);
    if (JS_IsNumber(value))
        JS_ToInt32(ctx, &number, value);
    JS_FreeValue(ctx, value);
    return number;
}

static bool is_syntax_error_in(JSContext *ctx, JSValueConst error, const char *name)
{
    JSValue file = JS_IsObject(error) ? JS_GetPropertyStr(ctx, error, "fileName") : JS_UNDEFINED;
    const char *text = JS_IsString(file) ? JS_ToCString(ctx, file) : NULL;
    bool same = text && !strcmp(text, name);
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, file);
    return same;
}

/* A syntax error in the first line of a script, at the column that the user's own file has. */
static void shift_first_line(JSContext *ctx, JSValueConst error, const char *name, int head)
{
    if (!is_syntax_error_in(ctx, error, name) || error_position(ctx, error, "lineNumber") != 1)
        return;
    int column = error_position(ctx, error, "columnNumber") - head;
    JSValue stack = JS_GetPropertyStr(ctx, error, "stack");
    size_t length;
    const char *text = JS_ToCStringLen(ctx, &length, stack);
    const char *place = text ? strstr(text, "\n    at ") : NULL;
    char *shifted = place ? malloc(length + 1) : NULL;
    if (shifted && column > 0) {
        place += strlen("\n    at ") + strlen(name) + strlen(":1:");
        const char *rest = place + strspn(place, "0123456789");
        int written = snprintf(shifted, length + 1, "%.*s%d%s", (int)(place - text), text, column, rest);
        JS_DefinePropertyValueStr(ctx, error, "columnNumber", JS_NewInt32(ctx, column), JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
        JS_DefinePropertyValueStr(ctx, error, "stack", JS_NewStringLen(ctx, shifted, (size_t)written), JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    }
    free(shifted);
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, stack);
}

JSValue compile_script(JSContext *ctx, const char *text, size_t length, const char *name)
{
    size_t head = strlen(SCRIPT_HEAD), tail = strlen(SCRIPT_TAIL);
    char *wrapped = malloc(head + length + tail + 1);
    if (!wrapped)
        return JS_ThrowOutOfMemory(ctx);
    memcpy(wrapped, SCRIPT_HEAD, head);
    memcpy(wrapped + head, text, length);
    memcpy(wrapped + head + length, SCRIPT_TAIL, tail + 1);
    if (length >= 2 && text[0] == '#' && text[1] == '!')
        memcpy(wrapped + head, "//", 2);
    JSValue function = JS_Eval(ctx, wrapped, head + length + tail, name, JS_EVAL_TYPE_GLOBAL);
    free(wrapped);
    if (JS_IsException(function)) {
        JSValue error = JS_GetException(ctx);
        shift_first_line(ctx, error, name, (int)head);
        return JS_Throw(ctx, error);
    }
    return function;
}

/* `await (...)` outside of every function also parses as a call in a script. A statement that
 * begins in the first column and awaits before it opens a function is taken for the module's. */
static bool awaits_at_top_level(const char *text, size_t length)
{
    const char *end = text + length, *line = text;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        for (const char *p = line; *line > ' ' && p + 7 < stop; p++) {
            if (*p == '/' || *p == '*' || !memcmp(p, "function", 8) || !memcmp(p, "async", 5) || !memcmp(p, "=>", 2))
                break;
            if (!memcmp(p, "await", 5) && (p == line || p[-1] == ' ' || p[-1] == '(' || p[-1] == '=') &&
                memchr(" ([`", p[5], 4))
                return true;
        }
        line = stop + 1;
    }
    return false;
}

/* Both parses failed: the one that came further tells the mistake. */
static JSValue throw_better_error(JSContext *ctx, JSValue as_script, JSValue as_module, const char *name)
{
    bool module_wins = true;
    if (is_syntax_error_in(ctx, as_script, name) && is_syntax_error_in(ctx, as_module, name)) {
        int script_line = error_position(ctx, as_script, "lineNumber");
        int module_line = error_position(ctx, as_module, "lineNumber");
        module_wins = module_line > script_line ||
                      (module_line == script_line && error_position(ctx, as_module, "columnNumber") >
                                                         error_position(ctx, as_script, "columnNumber"));
    }
    JS_FreeValue(ctx, module_wins ? as_script : as_module);
    return JS_Throw(ctx, module_wins ? as_module : as_script);
}

/* Compiles a program: *is_module tells whether the result is for JS_EvalFunction, or a function
 * as compile_script returns it. `text` ends with a NUL byte. */
static JSValue compile_program(JSContext *ctx, const char *text, size_t length, const char *name, bool *is_module)
{
    const int flags = JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY;
    *is_module = ends_with(name, ".mjs");
    if (*is_module)
        return JS_Eval(ctx, text, length, name, flags);
    if (!ends_with(name, ".cjs") && awaits_at_top_level(text, length)) {
        JSValue compiled = JS_Eval(ctx, text, length, name, flags);
        if (!JS_IsException(compiled)) {
            *is_module = true;
            return compiled;
        }
        JS_FreeValue(ctx, JS_GetException(ctx));
    }
    JSValue script = compile_script(ctx, text, length, name);
    if (!JS_IsException(script) || ends_with(name, ".cjs"))
        return script;
    JSValue script_error = JS_GetException(ctx);
    if (!is_syntax_error_in(ctx, script_error, name)) /* no memory, no stack */
        return JS_Throw(ctx, script_error);
    JSValue compiled = JS_Eval(ctx, text, length, name, flags);
    if (JS_IsException(compiled))
        return throw_better_error(ctx, script_error, JS_GetException(ctx), name);
    JS_FreeValue(ctx, script_error);
    *is_module = true;
    return compiled;
}

static bool set_import_meta(JSContext *ctx, JSModuleDef *module, const char *name, bool is_main)
{
    JSValue arguments[] = {JS_GetImportMeta(ctx, module), JS_NewString(ctx, name), JS_NewBool(ctx, is_main)};
    JSValue result = call_hook(hooks.import_meta, 3, (JSValueConst *)arguments);
    JS_FreeValue(ctx, arguments[0]);
    JS_FreeValue(ctx, arguments[1]);
    JS_FreeValue(ctx, result);
    return !JS_IsException(result);
}

static char *normalize(JSContext *ctx, const char *importer, const char *specifier, void *opaque)
{
    if (!sealed)
        return js_strdup(ctx, specifier);
    JSValue arguments[] = {JS_NewString(ctx, importer), JS_NewString(ctx, specifier)};
    JSValue resolved = call_hook(hooks.resolve, 2, (JSValueConst *)arguments);
    JS_FreeValue(ctx, arguments[0]);
    JS_FreeValue(ctx, arguments[1]);
    if (JS_IsException(resolved))
        return NULL;
    const char *text = JS_ToCString(ctx, resolved);
    char *name = text ? js_strdup(ctx, text) : NULL;
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, resolved);
    return name;
}

/* The exports of a script or JSON file, once import_script evaluated it. */
static int export_script(JSContext *ctx, JSModuleDef *module)
{
    JSAtom name = JS_GetModuleName(ctx, module);
    JSValue path = JS_AtomToString(ctx, name);
    JSValue list = call_hook(hooks.exports_of, 1, (JSValueConst *)&path);
    JSValue length = JS_IsException(list) ? JS_EXCEPTION : JS_GetPropertyStr(ctx, list, "length");
    uint32_t count = 0;
    int result = JS_IsException(length) ? -1 : JS_ToUint32(ctx, &count, length);
    for (uint32_t i = 0; result == 0 && i + 1 < count; i += 2) {
        JSValue key = JS_GetPropertyUint32(ctx, list, i);
        const char *text = JS_ToCString(ctx, key);
        result = text ? JS_SetModuleExport(ctx, module, text, JS_GetPropertyUint32(ctx, list, i + 1)) : -1;
        JS_FreeCString(ctx, text);
        JS_FreeValue(ctx, key);
    }
    JS_FreeValue(ctx, list);
    JS_FreeValue(ctx, path);
    JS_FreeAtom(ctx, name);
    return result;
}

/* A script or JSON file is evaluated when it is imported, so that its exports have names. */
static JSModuleDef *load_script(JSContext *ctx, const char *path)
{
    JSValue name = JS_NewString(ctx, path);
    JSValue list = call_hook(hooks.import_script, 1, (JSValueConst *)&name);
    JS_FreeValue(ctx, name);
    if (JS_IsException(list))
        return NULL;
    JSModuleDef *module = JS_NewCModule(ctx, path, export_script);
    JSValue length = JS_GetPropertyStr(ctx, list, "length");
    uint32_t count = 0;
    JS_ToUint32(ctx, &count, length);
    for (uint32_t i = 0; module && i < count; i += 2) {
        JSValue key = JS_GetPropertyUint32(ctx, list, i);
        const char *text = JS_ToCString(ctx, key);
        if (text)
            JS_AddModuleExport(ctx, module, text);
        JS_FreeCString(ctx, text);
        JS_FreeValue(ctx, key);
    }
    JS_FreeValue(ctx, list);
    return module;
}

static JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque)
{
    char *text;
    size_t length;
    bool is_module;
    if (!sealed)
        return load_prelude(ctx, name);
    if (ends_with(name, ".json") || ends_with(name, ".cjs"))
        return load_script(ctx, name);
    int failure = read_whole_file(name, -1, &text, &length);
    if (failure) {
        JS_ThrowReferenceError(ctx, "cannot read module '%s': %s", name, strerror(failure));
        return NULL;
    }
    JSValue compiled = compile_program(ctx, text, length, name, &is_module);
    free(text);
    if (JS_IsException(compiled))
        return NULL;
    if (!is_module) {
        JS_FreeValue(ctx, compiled);
        return load_script(ctx, name);
    }
    JSModuleDef *module = module_of(compiled);
    return set_import_meta(ctx, module, name, false) ? module : NULL;
}

/* ---- errors that nobody caught ----------------------------------------------------------- */

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

static void report_plain(const char *type, const char *message)
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

/* An error reached the top. Returns false when process.on("uncaughtException") took it; else it
 * is printed and reported, and the program ends with code 1. Takes over `error`. */
static bool is_fatal(JSValue error, bool in_promise)
{
    bool out_of_memory = allocation_failed && JS_IsNull(error);
    free(reserve);
    reserve = NULL;
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

static void track_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason, JS_BOOL handled, void *opaque)
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

/* Returns whether one of them ends the program. `main_promise` is that of the main module: what
 * rejected it was thrown at the top level, and not in a promise that the program made. */
static bool rejection_is_fatal(JSValueConst main_promise)
{
    bool fatal = false;
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

/* ---- running ----------------------------------------------------------------------------- */

_Noreturn void end_program(int code)
{
    output_flush();
    __wasi_proc_exit((uint32_t)code & 0xff);
}

/* Runs ticks and microtasks until there are none. Returns whether an error ends the program. */
static bool drain(JSValueConst main_promise)
{
    for (;;) {
        JSValue ran = call_hook(hooks.drain_ticks, 0, NULL);
        if (JS_IsException(ran)) {
            if (is_fatal(JS_GetException(context), false))
                return true;
            continue;
        }
        bool any = JS_ToBool(context, ran) > 0;
        JSContext *job_context;
        int status;
        while ((status = JS_ExecutePendingJob(runtime, &job_context)) != 0) {
            any = true;
            if (status < 0 && is_fatal(JS_GetException(context), false))
                return true;
        }
        if (!any)
            break;
    }
    return rejection_count > 0 && rejection_is_fatal(main_promise);
}

static void sleep_ms(double ms)
{
    output_flush();
    double seconds = __builtin_floor(ms / 1e3);
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((ms - seconds * 1e3) * 1e6)};
    nanosleep(&time, NULL);
}

/* Timers and immediates, each followed by its microtasks, until nothing is left. Returns
 * whether an error ends the program. */
static bool run_event_loop(JSValueConst main_promise)
{
    for (;;) {
        if (drain(main_promise))
            return true;
        double wait_ms;
        JSValue wait = call_hook(hooks.turn, 0, NULL);
        if (JS_IsException(wait)) {
            if (is_fatal(JS_GetException(context), false))
                return true;
            continue;
        }
        JS_ToFloat64(context, &wait_ms, wait);
        if (wait_ms < 0)
            return false;
        if (wait_ms > 0)
            sleep_ms(wait_ms);
    }
}

/* Node's exit code for a module whose top-level await never ends. */
#define EXIT_UNSETTLED 13

static int run_program(const char *text, size_t length, const char *name)
{
    bool is_module, fatal;
    int code;
    JSValue promise = JS_UNDEFINED, result;
    JSValue compiled = compile_program(context, text, length, name, &is_module);
    if (JS_IsException(compiled)) {
        result = compiled;
    } else if (is_module) {
        JSModuleDef *module = JS_VALUE_GET_PTR(compiled);
        result = set_import_meta(context, module, name, true) ? JS_EvalFunction(context, compiled) : JS_EXCEPTION;
        promise = JS_DupValue(context, result);
    } else {
        JSValue arguments[] = {compiled, JS_NewString(context, name)};
        result = call_hook(hooks.run_script, 2, (JSValueConst *)arguments);
    }
    fatal = JS_IsException(result) && is_fatal(JS_GetException(context), false);
    if (!fatal)
        fatal = run_event_loop(promise);
    bool unsettled = !fatal && is_module && JS_IsObject(promise) &&
                     JS_PromiseState(context, promise) == JS_PROMISE_PENDING;
    if (unsettled) {
        static const char WARNING[] = "Warning: the program ended while a top-level await was still waiting.\n";
        output_write(2, WARNING, strlen(WARNING));
    }
    JSValue argument = fatal ? JS_NewInt32(context, 1) : unsettled ? JS_NewInt32(context, EXIT_UNSETTLED) : JS_UNDEFINED;
    JSValue exit_code = call_hook(hooks.finish, 1, (JSValueConst *)&argument);
    if (JS_IsException(exit_code)) {
        if (!fatal)
            is_fatal(JS_GetException(context), false);
        return 1;
    }
    JS_ToInt32(context, &code, exit_code);
    return code & 0xff;
}

static int interrupted(JSRuntime *rt, void *opaque)
{
    output_flush();
    return 0;
}

NOVA_EXPORT(nova_alloc) void *nova_alloc(uint32_t size)
{
    return malloc(size ? size : 1);
}

static uint32_t header_number(JSValueConst header, const char *key)
{
    uint32_t number = 0;
    JSValue value = JS_GetPropertyStr(context, header, key);
    JS_ToUint32(context, &number, value);
    JS_FreeValue(context, value);
    return number;
}

/* The request's own memory lives until the end: there is one program in an instance. */
NOVA_EXPORT(nova_run) int32_t nova_run(const char *request, uint32_t length)
{
    uint32_t header_bytes;
    JS_UpdateStackTop(runtime);
    memcpy(&header_bytes, request, 4);
    char *header_text = malloc(header_bytes + 1); /* the parser wants a NUL after it */
    if (!header_text)
        return 70;
    memcpy(header_text, request + 4, header_bytes);
    header_text[header_bytes] = 0;
    JSValue header = JS_ParseJSON(context, header_text, header_bytes, "<request>");
    const char *body = request + 4 + header_bytes;
    size_t source_bytes = header_number(header, "source_bytes"), tzif_bytes = header_number(header, "tzif_bytes");
    if (JS_IsException(header) || 4 + header_bytes + source_bytes + tzif_bytes != length)
        return 70;
    nova_set_timezone((const uint8_t *)body + source_bytes, tzif_bytes);
    JSValue started = call_hook(hooks.begin, 1, (JSValueConst *)&header);
    if (JS_IsException(started))
        return 70;

    JSValue entry = JS_GetPropertyStr(context, header, "entry");
    bool has_entry = JS_IsString(entry);
    const char *name;
    char *text;
    size_t text_length = source_bytes;
    if (has_entry) {
        name = JS_ToCString(context, entry);
        int failure = read_whole_file(name, -1, &text, &text_length);
        if (failure) {
            report_plain("Error", strerror(failure));
            output_flush();
            return 1;
        }
    } else {
        JSValue given = JS_GetPropertyStr(context, header, "name");
        name = JS_ToCString(context, given);
        text = malloc(source_bytes + 1); /* the parser wants a NUL after it */
        if (!text) {
            report_plain("InternalError", "out of memory");
            output_flush();
            return 1;
        }
        memcpy(text, body, source_bytes);
        text[source_bytes] = 0;
    }
    int code = run_program(text, text_length, name);
    output_flush();
    return code;
}

static JSValue hook(JSValueConst namespace, const char *name)
{
    JSValue function = JS_GetPropertyStr(context, namespace, name);
    if (!JS_IsFunction(context, function))
        __builtin_trap(); /* the recipe fails, with the name in the trace */
    return function;
}

static void print_and_trap(void)
{
    JSValue error = JS_GetException(context), stack = JS_GetPropertyStr(context, error, "stack");
    const char *text = JS_ToCString(context, JS_IsUndefined(stack) ? error : stack);
    output_write(2, text, strlen(text));
    output_flush();
    __builtin_trap();
}

/* How much of its own stack the guest lets JavaScript use. The machine's stack, of which the
 * host gives 8 MiB, runs out first: a level of recursion takes up to four times as much there
 * (measured over calls, callbacks, getters, proxies, JSON, regular expressions and the parser). */
#ifndef JS_STACK_BYTES
#define JS_STACK_BYTES (2048 * 1024)
#endif

NOVA_EXPORT(nova_init) void nova_init(void)
{
    runtime = JS_NewRuntime2(&ALLOCATOR, NULL);
    JS_SetMaxStackSize(runtime, JS_STACK_BYTES);
    JS_SetModuleLoaderFunc(runtime, normalize, load_module, NULL);
    JS_SetStripInfo(runtime, JS_STRIP_SOURCE | JS_STRIP_DEBUG);
    context = JS_NewContext(runtime);
    JSModuleDef *prelude = load_prelude(context, "nova:main");
    if (!prelude)
        print_and_trap();
    JSValue promise = JS_EvalFunction(context, JS_DupValue(context, JS_MKPTR(JS_TAG_MODULE, prelude)));
    JSContext *job_context;
    int status;
    while ((status = JS_ExecutePendingJob(runtime, &job_context)) > 0)
        ;
    if (JS_IsException(promise) || status < 0)
        print_and_trap();
    if (JS_PromiseState(context, promise) != JS_PROMISE_FULFILLED) {
        JS_Throw(context, JS_PromiseResult(context, promise));
        print_and_trap();
    }
    JS_FreeValue(context, promise);
    JSValue exports = JS_GetModuleNamespace(context, prelude);
    hooks.begin = hook(exports, "begin");
    hooks.resolve = hook(exports, "resolve");
    hooks.run_script = hook(exports, "runScript");
    hooks.import_script = hook(exports, "importScript");
    hooks.exports_of = hook(exports, "exportsOf");
    hooks.import_meta = hook(exports, "fillImportMeta");
    hooks.drain_ticks = hook(exports, "drainTicks");
    hooks.turn = hook(exports, "turn");
    hooks.on_uncaught = hook(exports, "onUncaught");
    hooks.describe = hook(exports, "describe");
    hooks.finish = hook(exports, "finish");
    JS_FreeValue(context, exports);

    JS_SetStripInfo(runtime, 0);
    JS_SetHostPromiseRejectionTracker(runtime, track_rejection, NULL);
    JS_SetInterruptHandler(runtime, interrupted, NULL);
    sealed = true;
    reserve = malloc(64 * 1024);
    JS_RunGC(runtime);
    nova_clear_free_memory();
}
