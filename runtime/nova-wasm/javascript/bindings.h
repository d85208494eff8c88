/* What the files of "nova:native" share. */
#ifndef NOVA_JS_BINDINGS_H
#define NOVA_JS_BINDINGS_H

#include "nova_js.h"

/* text.c and files.c: their part of the module's exports. */
extern const JSCFunctionListEntry TEXT_FUNCTIONS[];
extern const int TEXT_FUNCTION_COUNT;
extern const JSCFunctionListEntry FILE_FUNCTIONS[];
extern const int FILE_FUNCTION_COUNT;

/* The bytes of an ArrayBuffer or a view; false on an exception. The pointer holds until
 * JavaScript runs again. */
bool bytes_of(JSContext *ctx, JSValueConst value, uint8_t **bytes, size_t *length);

/* An ArrayBuffer that takes over malloc'ed memory. */
JSValue array_buffer(JSContext *ctx, void *bytes, size_t length);

#endif
