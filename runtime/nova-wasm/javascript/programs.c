/* What programs and modules are: which text is a script and which a module, and what an import
 * gives. prelude/modules.js decides which file a specifier means.
 *
 * A program is a module when its name ends in .mjs, or when it parses as a module but not as a
 * script (import, export, top-level await); else it is a script in the manner of CommonJS. The
 * same holds for what a program imports.
 */
#include "embedding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prelude_file {
    const char *name;
    const char *text;
    size_t length;
};

#include "prelude_files.h"

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static JSModuleDef *module_of(JSValue compiled)
{
    JSModuleDef *module = JS_VALUE_GET_PTR(compiled);
    JS_FreeValue(context, compiled); /* the context keeps its modules alive */
    return module;
}

JSModuleDef *load_prelude(JSContext *ctx, const char *name)
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

JSValue compile_program(JSContext *ctx, const char *text, size_t length, const char *name, bool *is_module)
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

bool set_import_meta(JSContext *ctx, JSModuleDef *module, const char *name, bool is_main)
{
    JSValue arguments[] = {JS_GetImportMeta(ctx, module), JS_NewString(ctx, name), JS_NewBool(ctx, is_main)};
    JSValue result = call_hook(hooks.import_meta, 3, (JSValueConst *)arguments);
    JS_FreeValue(ctx, arguments[0]);
    JS_FreeValue(ctx, arguments[1]);
    JS_FreeValue(ctx, result);
    return !JS_IsException(result);
}

char *normalize_module(JSContext *ctx, const char *importer, const char *specifier, void *opaque)
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

JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque)
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
