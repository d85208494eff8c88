/* The JavaScript guest: QuickJS behind the three functions of ../README.md.
 *
 * nova_init   makes the runtime and evaluates the prelude (prelude/...); the snapshot is taken
 *             when it returns, so nothing here may depend on a clock, an environment or chance,
 *             nor touch a path: libc would remember the directories of that moment
 * nova_run    runs one program to its end: main program, then the event loop, then the exit
 *             listeners
 */
#include "embedding.h"

#include "nova.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wasi/api.h>

size_t malloc_usable_size(void *); /* common/alloc.c */

JSRuntime *runtime;
JSContext *context;
bool sealed;
/* Given back before an error is described: a program that ended for want of memory has none. */
static void *reserve;
bool allocation_failed;
struct hooks hooks;

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

void release_reserve(void)
{
    free(reserve);
    reserve = NULL;
}

JSValue call_hook(JSValue hook, int argc, JSValueConst *argv)
{
    return JS_Call(context, hook, JS_UNDEFINED, argc, argv);
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
    return rejection_is_fatal(main_promise);
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

/* sysexits.h, EX_SOFTWARE: the host sent something else than ../README.md says. */
#define EXIT_BAD_REQUEST 70

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
    if (length < 4)
        return EXIT_BAD_REQUEST;
    memcpy(&header_bytes, request, 4);
    if (header_bytes > length - 4)
        return EXIT_BAD_REQUEST;
    char *header_text = malloc(header_bytes + 1); /* the parser wants a NUL after it */
    if (!header_text)
        return EXIT_BAD_REQUEST;
    memcpy(header_text, request + 4, header_bytes);
    header_text[header_bytes] = 0;
    JSValue header = JS_ParseJSON(context, header_text, header_bytes, "<request>");
    const char *body = request + 4 + header_bytes;
    size_t source_bytes = header_number(header, "source_bytes"), tzif_bytes = header_number(header, "tzif_bytes");
    if (JS_IsException(header) || 4 + header_bytes + source_bytes + tzif_bytes != length)
        return EXIT_BAD_REQUEST;
    nova_set_timezone((const uint8_t *)body + source_bytes, tzif_bytes);
    JSValue started = call_hook(hooks.begin, 1, (JSValueConst *)&header);
    if (JS_IsException(started))
        return EXIT_BAD_REQUEST;

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
    JS_SetModuleLoaderFunc(runtime, normalize_module, load_module, NULL);
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
    nova_close_holes();
    nova_clear_free_memory();
}
