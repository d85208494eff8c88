/* The Python guest: CPython, initialised once, kept as a snapshot.
 *
 * nova_init runs at build time only. It starts the interpreter and lets the package _nova_guest
 * import and warm up the standard library; the memory it leaves is the guest. nova_run runs one
 * program in it. The interpreter is never finalised: this libc cannot, and the instance is
 * dropped anyway. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wasi/libc-environ.h>

#include "nova.h"

enum {
    FAULT_EXIT_CODE = 70, /* sysexits' EX_SOFTWARE: our own code failed, not the program */
    ENTROPY_PIECE = 256,  /* getentropy refuses more */
    HASH_SEED = 20011,    /* the same in every run; README, "What a snapshot repeats" */
};

static PyObject *begin_program, *program_failed, *finish_program; /* of _nova_guest */

/* --- the module _nova ---------------------------------------------------------------------- */

static PyObject *nova_call(PyObject *module, PyObject *argument) {
    static unsigned char reply[16384]; /* most replies fit: one crossing instead of two */
    (void)module;
    Py_buffer request;
    if (PyObject_GetBuffer(argument, &request, PyBUF_SIMPLE) < 0) return NULL;
    uint32_t length =
        nova_host_call(request.buf, (uint32_t)request.len, reply, (uint32_t)sizeof reply);
    PyBuffer_Release(&request);
    if (length <= sizeof reply) return PyBytes_FromStringAndSize((char *)reply, length);
    if (length > INT32_MAX) return PyErr_NoMemory();
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)length);
    if (result) nova_host_take(PyBytes_AS_STRING(result), length);
    return result;
}

static PyObject *nova_report(PyObject *module, PyObject *argument) {
    (void)module;
    Py_buffer json;
    if (PyObject_GetBuffer(argument, &json, PyBUF_SIMPLE) < 0) return NULL;
    nova_host_report(json.buf, (uint32_t)json.len);
    PyBuffer_Release(&json);
    Py_RETURN_NONE;
}

static PyObject *nova_environ(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    __wasilibc_deinitialize_environ(); /* what the snapshot's libc knew */
    PyObject *result = PyList_New(0);
    char **entries = result ? __wasilibc_get_environ() : NULL;
    for (; entries && *entries; entries++) {
        PyObject *entry = PyBytes_FromString(*entries);
        if (!entry || PyList_Append(result, entry) < 0) {
            Py_XDECREF(entry);
            Py_DECREF(result);
            return NULL;
        }
        Py_DECREF(entry);
    }
    return result;
}

static PyObject *nova_set_zone(PyObject *module, PyObject *argument) {
    (void)module;
    Py_buffer tzif;
    if (PyObject_GetBuffer(argument, &tzif, PyBUF_SIMPLE) < 0) return NULL;
    nova_set_timezone(tzif.buf, (size_t)tzif.len);
    PyBuffer_Release(&tzif);
    Py_RETURN_NONE;
}

static PyMethodDef nova_methods[] = {
    {"call", nova_call, METH_O, "call(request: bytes) -> bytes. A brokered call to the host."},
    {"report", nova_report, METH_O, "report(json: bytes) -> None. Why the program ended."},
    {"environ", nova_environ, METH_NOARGS, "environ() -> list[bytes]. This run's K=V entries."},
    {"set_timezone", nova_set_zone, METH_O, "set_timezone(tzif: bytes) -> None. b'' is UTC."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef nova_module = {
    PyModuleDef_HEAD_INIT, .m_name = "_nova", .m_size = -1, .m_methods = nova_methods};

static PyObject *create_nova_module(void) { return PyModule_Create(&nova_module); }

/* --- build time ---------------------------------------------------------------------------- */

static _Noreturn void give_up(const char *step, const char *why) {
    fprintf(stderr, "nova_init: %s: %s\n", step, why ? why : "see above");
    if (PyErr_Occurred()) PyErr_Print();
    abort();
}

static void must(const char *step, PyStatus status) {
    if (PyStatus_Exception(status)) give_up(step, status.err_msg);
}

static void start_interpreter(void) {
    PyPreConfig preconfig;
    PyPreConfig_InitIsolatedConfig(&preconfig);
    preconfig.utf8_mode = 1;
    must("pre-initialisation", Py_PreInitialize(&preconfig));
    PyImport_AppendInittab("_nova", create_nova_module);

    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    config.write_bytecode = 0;
    config.install_signal_handlers = 0;
    config.pathconfig_warnings = 0;
    config.parse_argv = 0;
    config.faulthandler = 0;
    config.use_hash_seed = 1;
    config.hash_seed = HASH_SEED;
    config.module_search_paths_set = 1;
    must("path", PyWideStringList_Append(&config.module_search_paths, L"/usr/lib/python3.13"));
    must("path",
         PyWideStringList_Append(&config.module_search_paths, L"/usr/lib/python313.zip"));
    must("name", PyConfig_SetString(&config, &config.program_name, L"python3"));
    must("executable", PyConfig_SetString(&config, &config.executable, L""));
    must("prefix", PyConfig_SetString(&config, &config.prefix, L"/usr"));
    must("prefix", PyConfig_SetString(&config, &config.exec_prefix, L"/usr"));
    must("prefix", PyConfig_SetString(&config, &config.base_prefix, L"/usr"));
    must("prefix", PyConfig_SetString(&config, &config.base_exec_prefix, L"/usr"));
    must("library", PyConfig_SetString(&config, &config.stdlib_dir, L"/usr/lib/python3.13"));
    must("initialisation", Py_InitializeFromConfig(&config));
    PyConfig_Clear(&config);
}

static void prepare_python(void) {
    PyObject *module = PyImport_ImportModule("_nova_guest.prepare");
    PyObject *parts = module ? PyObject_CallMethod(module, "prepare", NULL) : NULL;
    if (!parts ||
        !PyArg_ParseTuple(parts, "OOO", &begin_program, &program_failed, &finish_program))
        give_up("_nova_guest.prepare", NULL);
    Py_INCREF(begin_program);
    Py_INCREF(program_failed);
    Py_INCREF(finish_program);
    Py_DECREF(parts);
    Py_DECREF(module);
    PyGC_Collect();
}

/* --- immortality: counting references would write to every page that is only read --- */

static struct {
    PyObject **items;
    size_t count, room;
} to_visit;

static void push(PyObject *object) {
    if (to_visit.count == to_visit.room) {
        to_visit.room = to_visit.room ? 2 * to_visit.room : 1 << 16;
        to_visit.items = realloc(to_visit.items, to_visit.room * sizeof *to_visit.items);
        if (!to_visit.items) give_up("immortality", "out of memory");
    }
    to_visit.items[to_visit.count++] = object;
}

static int make_immortal(PyObject *object, void *unused) {
    (void)unused;
    /* Not a bytearray: the prelude keeps one to be freed when memory runs out. */
    if (!object || _Py_IsImmortal(object) || PyByteArray_Check(object)) return 0;
    object->ob_refcnt = _Py_IMMORTAL_REFCNT;
    push(object);
    return 0;
}

/* Code objects are not containers to the collector. */
static void visit_code(PyCodeObject *code) {
    PyObject *parts[] = {
        code->co_consts,  code->co_names,    code->co_localsplusnames, code->co_localspluskinds,
        code->co_name,    code->co_qualname, code->co_filename,        code->co_linetable,
        code->co_exceptiontable,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) make_immortal(parts[i], NULL);
    PyObject **constants = ((PyTupleObject *)code->co_consts)->ob_item;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++)
        make_immortal(constants[i], NULL);
}

static void visit(PyObject *object) {
    if (PyCode_Check(object)) visit_code((PyCodeObject *)object);
    else if (Py_TYPE(object)->tp_traverse)
        Py_TYPE(object)->tp_traverse(object, make_immortal, NULL);
}

/* All that the snapshot knows lives as long as the run: an immortal object's reference count is
 * never written, so its page stays shared with the image instead of being copied. */
static void keep_for_ever(void) {
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *done = gc ? PyObject_CallMethod(gc, "unfreeze", NULL) : NULL;
    Py_XDECREF(done);
    PyObject *tracked = gc ? PyObject_CallMethod(gc, "get_objects", NULL) : NULL;
    if (!tracked) give_up("immortality", NULL);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tracked); i++) {
        PyObject *object = PyList_GET_ITEM(tracked, i);
        make_immortal(object, NULL);
        visit(object); /* also those that were immortal before */
        while (to_visit.count) visit(to_visit.items[--to_visit.count]);
    }
    Py_DECREF(tracked);
    free(to_visit.items);
    to_visit.items = NULL;
    to_visit.room = 0;
    done = PyObject_CallMethod(gc, "freeze", NULL);
    Py_XDECREF(done);
    Py_DECREF(gc);
}

/* As nova_close_holes, for CPython's small objects: use up each size's half-filled pools, so that
 * the first object of a run begins a new one. A pool's header begins with its count of blocks in
 * use (struct pool_header of pycore_obmalloc.h). */
static void close_pools(void) {
    enum { STEP = 8, LARGEST = 512, POOL = 16384 };
    for (size_t size = STEP; size <= LARGEST; size += STEP)
        for (;;) {
            char *object = PyObject_Malloc(size);
            if (!object) give_up("close_pools", "out of memory");
            memset(object, 0, size);
            const uint32_t *pool = (const uint32_t *)((uintptr_t)object & ~(uintptr_t)(POOL - 1));
            if (*pool > 1) continue;
            PyObject_Free(object);
            break;
        }
}

static int host_entropy(sqlite3_vfs *vfs, int length, char *out) {
    (void)vfs;
    for (int done = 0; done < length; done += ENTROPY_PIECE) {
        int left = length - done;
        if (getentropy(out + done, left < ENTROPY_PIECE ? (size_t)left : ENTROPY_PIECE))
            return done;
    }
    return length;
}

/* SQLite seeds its generator from /dev/urandom or else the time in seconds; and its state would
 * be in the snapshot. File locks need fcntl, which WASI lacks: "unix-none" does without. */
static void prepare_sqlite(void) {
    if (sqlite3_initialize() != SQLITE_OK) give_up("sqlite3_initialize", "failed");
    sqlite3_vfs *without_locks = sqlite3_vfs_find("unix-none");
    if (!without_locks) give_up("sqlite3_vfs_find", "no unix-none");
    sqlite3_vfs_register(without_locks, 1);
    for (sqlite3_vfs *vfs = sqlite3_vfs_find(NULL); vfs; vfs = vfs->pNext)
        vfs->xRandomness = host_entropy;
    sqlite3_randomness(0, NULL); /* forget the state: the first use in a run seeds anew */
}

NOVA_EXPORT(nova_init) void nova_init(void) {
    start_interpreter();
    prepare_python();
    keep_for_ever();
    prepare_sqlite();
    __wasilibc_deinitialize_environ();
    close_pools();
    nova_close_holes();
    nova_clear_free_memory();
}

/* --- run time ------------------------------------------------------------------------------ */

NOVA_EXPORT(nova_alloc) void *nova_alloc(uint32_t size) { return malloc(size ? size : 1); }

/* The program runs from here, not from Python, so that no frame of ours is below its own:
 * tracebacks, inspect.stack() and print_stack() show the program alone. */
static PyObject *evaluate(PyObject *code) {
    PyObject *main_module = PyImport_AddModule("__main__"); /* borrowed, new in each run */
    PyObject *globals = main_module ? Py_NewRef(PyModule_GetDict(main_module)) : NULL;
    PyObject *result = globals ? PyEval_EvalCode(code, globals, globals) : NULL;
    Py_XDECREF(globals);
    return result;
}

/* Calls one of our own functions and takes its reference to the argument; the function answers
 * with an exit code. Were it to raise, the fault is ours. */
static long ask(PyObject *function, PyObject *argument) {
    PyObject *answer = argument ? PyObject_CallOneArg(function, argument) : NULL;
    Py_XDECREF(argument);
    long code = answer ? PyLong_AsLong(answer) : FAULT_EXIT_CODE;
    Py_XDECREF(answer);
    if (!PyErr_Occurred()) return code;
    PyErr_Print();
    return FAULT_EXIT_CODE;
}

NOVA_EXPORT(nova_run) int32_t nova_run(char *request, uint32_t length) {
    PyObject *bytes = PyBytes_FromStringAndSize(request, (Py_ssize_t)length);
    free(request);
    PyObject *code = bytes ? PyObject_CallOneArg(begin_program, bytes) : NULL;
    Py_XDECREF(bytes);
    PyObject *result = code ? evaluate(code) : NULL;
    Py_XDECREF(code);
    long status = 0;
    if (result) Py_DECREF(result);
    else status = ask(program_failed, PyErr_GetRaisedException());
    return (int32_t)(ask(finish_program, PyLong_FromLong(status)) & 255);
}
