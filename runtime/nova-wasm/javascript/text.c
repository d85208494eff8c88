/* Part of "nova:native": text, bytes, and writing them out. */
#include "bindings.h"

#include <stdlib.h>
#include <string.h>

bool bytes_of(JSContext *ctx, JSValueConst value, uint8_t **bytes, size_t *length)
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

JSValue array_buffer(JSContext *ctx, void *bytes, size_t length)
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

const JSCFunctionListEntry TEXT_FUNCTIONS[] = {
    JS_CFUNC_DEF("write", 2, js_write),
    JS_CFUNC_DEF("flush", 0, js_flush),
    JS_CFUNC_DEF("encodeUtf8", 1, js_encode_utf8),
    JS_CFUNC_DEF("decodeUtf8", 2, js_decode_utf8),
    JS_CFUNC_DEF("incompleteUtf8", 1, js_incomplete_utf8),
    JS_CFUNC_DEF("decodeLatin1", 1, js_decode_latin1),
    JS_CFUNC_DEF("encodeBase64", 1, js_encode_base64),
    JS_CFUNC_DEF("decodeBase64", 1, js_decode_base64),
};
const int TEXT_FUNCTION_COUNT = sizeof TEXT_FUNCTIONS / sizeof *TEXT_FUNCTIONS;
