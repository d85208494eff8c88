/* What nova_js.c, programs.c and uncaught.c share: the runtime and what the prelude gave them. */
#ifndef NOVA_JS_EMBEDDING_H
#define NOVA_JS_EMBEDDING_H

#include "nova_js.h"

extern JSRuntime *runtime;
extern JSContext *context;

/* While the prelude is being evaluated its modules may import each other and nova:native. */
extern bool sealed;

/* True once an allocation was refused. */
extern bool allocation_failed;

/* What prelude/main.js gives to C. */
extern struct hooks {
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

JSValue call_hook(JSValue hook, int argc, JSValueConst *argv);

/* nova_js.c: gives memory back for the description of an error. */
void release_reserve(void);

/* programs.c: a module of the prelude, compiled; NULL on an exception. */
JSModuleDef *load_prelude(JSContext *ctx, const char *name);

/* programs.c: compiles a program; *is_module tells whether the result is for JS_EvalFunction, or a
 * function as compile_script returns it. `text` ends with a NUL byte. */
JSValue compile_program(JSContext *ctx, const char *text, size_t length, const char *name, bool *is_module);
bool set_import_meta(JSContext *ctx, JSModuleDef *module, const char *name, bool is_main);

/* programs.c: QuickJS's two questions about an import. */
char *normalize_module(JSContext *ctx, const char *importer, const char *specifier, void *opaque);
JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque);

/* uncaught.c: prints and reports an error that never was a JavaScript value. */
void report_plain(const char *type, const char *message);

/* uncaught.c: an error reached the top. Returns false when the program's own listener took it;
 * else it is printed and reported, and the program ends with code 1. Takes over `error`. */
bool is_fatal(JSValue error, bool in_promise);

/* uncaught.c: whether a promise was rejected, since the last call, that ends the program.
 * `main_promise` is that of the main module. */
bool rejection_is_fatal(JSValueConst main_promise);
void track_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason, JS_BOOL handled, void *opaque);

#endif
