/* What the C files of the JavaScript guest share. */
#ifndef NOVA_JS_H
#define NOVA_JS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quickjs.h"

/* output.c: one buffer in front of standard output and standard error. */
void output_write(int fd, const char *bytes, size_t length);
void output_flush(void);

/* bindings.c, text.c, files.c: the module "nova:native", which only the prelude can import. */
JSModuleDef *bindings_module(JSContext *ctx, const char *name);

/* files.c: reads a whole file (or, with a NULL path, an open descriptor) into malloc'ed memory that
 * ends with a NUL byte which is not counted. Returns 0, or the errno value. */
int read_whole_file(const char *path, int fd, char **bytes, size_t *length);

/* text.c: overwrites lone surrogates, as QuickJS encodes them, with U+FFFD, which also takes three
 * bytes. */
void replace_lone_surrogates(char *utf8, size_t length);

/* programs.c: compiles the text of a script as a function (exports, require, module, __filename,
 * __dirname), so that its variables are its own and a top-level return ends it. */
JSValue compile_script(JSContext *ctx, const char *text, size_t length, const char *name);

/* nova_js.c: ends the program now; never returns. */
_Noreturn void end_program(int code);

/* bindings.c: monotonic clock in milliseconds. */
double monotonic_ms(void);

#endif
