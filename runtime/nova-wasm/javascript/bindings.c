/* The module "nova:native": what the prelude needs and JavaScript cannot do.
 *
 * Only the prelude can import it; its functions trust their caller's argument types as far as
 * QuickJS's own conversions do. None of them loops without bound.
 */
#include "bindings.h"

#include "nova.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wasi/api.h>

int getentropy(void *, size_t);

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

static const JSCFunctionListEntry OTHER_FUNCTIONS[] = {
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
#define OTHER_FUNCTION_COUNT ((int)(sizeof OTHER_FUNCTIONS / sizeof *OTHER_FUNCTIONS))

static int define_exports(JSContext *ctx, JSModuleDef *module)
{
    if (JS_SetModuleExportList(ctx, module, TEXT_FUNCTIONS, TEXT_FUNCTION_COUNT) < 0 ||
        JS_SetModuleExportList(ctx, module, FILE_FUNCTIONS, FILE_FUNCTION_COUNT) < 0)
        return -1;
    return JS_SetModuleExportList(ctx, module, OTHER_FUNCTIONS, OTHER_FUNCTION_COUNT);
}

JSModuleDef *bindings_module(JSContext *ctx, const char *name)
{
    JSModuleDef *module = JS_NewCModule(ctx, name, define_exports);
    if (module) {
        JS_AddModuleExportList(ctx, module, TEXT_FUNCTIONS, TEXT_FUNCTION_COUNT);
        JS_AddModuleExportList(ctx, module, FILE_FUNCTIONS, FILE_FUNCTION_COUNT);
        JS_AddModuleExportList(ctx, module, OTHER_FUNCTIONS, OTHER_FUNCTION_COUNT);
    }
    return module;
}
