/* The prelude's texts, by the names under which its modules import each other. The names that
 * begin with "node:" are also what programs import. */
static const char TEXT_columns[] = {
#embed "prelude/columns.js" suffix(, 0)
};
static const char TEXT_streams[] = {
#embed "prelude/streams.js" suffix(, 0)
};
static const char TEXT_main[] = {
#embed "prelude/main.js" suffix(, 0)
};
static const char TEXT_primordials[] = {
#embed "prelude/primordials.js" suffix(, 0)
};
static const char TEXT_inspect[] = {
#embed "prelude/inspect.js" suffix(, 0)
};
static const char TEXT_encoding[] = {
#embed "prelude/encoding.js" suffix(, 0)
};
static const char TEXT_clone[] = {
#embed "prelude/clone.js" suffix(, 0)
};
static const char TEXT_cwd[] = {
#embed "prelude/cwd.js" suffix(, 0)
};
static const char TEXT_equality[] = {
#embed "prelude/equality.js" suffix(, 0)
};
static const char TEXT_fs_errors[] = {
#embed "prelude/fs_errors.js" suffix(, 0)
};
static const char TEXT_locale[] = {
#embed "prelude/locale.js" suffix(, 0)
};
static const char TEXT_modules[] = {
#embed "prelude/modules.js" suffix(, 0)
};
static const char TEXT_builtins[] = {
#embed "prelude/builtins.js" suffix(, 0)
};
static const char TEXT_stdin[] = {
#embed "prelude/stdin.js" suffix(, 0)
};
static const char TEXT_assert[] = {
#embed "prelude/assert.js" suffix(, 0)
};
static const char TEXT_buffer[] = {
#embed "prelude/buffer.js" suffix(, 0)
};
static const char TEXT_console[] = {
#embed "prelude/console.js" suffix(, 0)
};
static const char TEXT_crypto[] = {
#embed "prelude/crypto.js" suffix(, 0)
};
static const char TEXT_events[] = {
#embed "prelude/events.js" suffix(, 0)
};
static const char TEXT_fs[] = {
#embed "prelude/fs.js" suffix(, 0)
};
static const char TEXT_fs_promises[] = {
#embed "prelude/fs_promises.js" suffix(, 0)
};
static const char TEXT_module[] = {
#embed "prelude/module.js" suffix(, 0)
};
static const char TEXT_os[] = {
#embed "prelude/os.js" suffix(, 0)
};
static const char TEXT_path[] = {
#embed "prelude/path.js" suffix(, 0)
};
static const char TEXT_perf_hooks[] = {
#embed "prelude/perf_hooks.js" suffix(, 0)
};
static const char TEXT_process[] = {
#embed "prelude/process.js" suffix(, 0)
};
static const char TEXT_readline[] = {
#embed "prelude/readline.js" suffix(, 0)
};
static const char TEXT_readline_promises[] = {
#embed "prelude/readline_promises.js" suffix(, 0)
};
static const char TEXT_timers[] = {
#embed "prelude/timers.js" suffix(, 0)
};
static const char TEXT_timers_promises[] = {
#embed "prelude/timers_promises.js" suffix(, 0)
};
static const char TEXT_url[] = {
#embed "prelude/url.js" suffix(, 0)
};
static const char TEXT_util[] = {
#embed "prelude/util.js" suffix(, 0)
};

static const struct prelude_file PRELUDE[] = {
    {"nova:main", TEXT_main, sizeof TEXT_main - 1},
    {"nova:primordials", TEXT_primordials, sizeof TEXT_primordials - 1},
    {"nova:inspect", TEXT_inspect, sizeof TEXT_inspect - 1},
    {"nova:encoding", TEXT_encoding, sizeof TEXT_encoding - 1},
    {"nova:clone", TEXT_clone, sizeof TEXT_clone - 1},
    {"nova:columns", TEXT_columns, sizeof TEXT_columns - 1},
    {"nova:streams", TEXT_streams, sizeof TEXT_streams - 1},
    {"nova:cwd", TEXT_cwd, sizeof TEXT_cwd - 1},
    {"nova:equality", TEXT_equality, sizeof TEXT_equality - 1},
    {"nova:fs_errors", TEXT_fs_errors, sizeof TEXT_fs_errors - 1},
    {"nova:locale", TEXT_locale, sizeof TEXT_locale - 1},
    {"nova:modules", TEXT_modules, sizeof TEXT_modules - 1},
    {"nova:builtins", TEXT_builtins, sizeof TEXT_builtins - 1},
    {"nova:stdin", TEXT_stdin, sizeof TEXT_stdin - 1},
    {"node:assert", TEXT_assert, sizeof TEXT_assert - 1},
    {"node:buffer", TEXT_buffer, sizeof TEXT_buffer - 1},
    {"node:console", TEXT_console, sizeof TEXT_console - 1},
    {"node:crypto", TEXT_crypto, sizeof TEXT_crypto - 1},
    {"node:events", TEXT_events, sizeof TEXT_events - 1},
    {"node:fs", TEXT_fs, sizeof TEXT_fs - 1},
    {"node:fs/promises", TEXT_fs_promises, sizeof TEXT_fs_promises - 1},
    {"node:module", TEXT_module, sizeof TEXT_module - 1},
    {"node:os", TEXT_os, sizeof TEXT_os - 1},
    {"node:path", TEXT_path, sizeof TEXT_path - 1},
    {"node:perf_hooks", TEXT_perf_hooks, sizeof TEXT_perf_hooks - 1},
    {"node:process", TEXT_process, sizeof TEXT_process - 1},
    {"node:readline", TEXT_readline, sizeof TEXT_readline - 1},
    {"node:readline/promises", TEXT_readline_promises, sizeof TEXT_readline_promises - 1},
    {"node:timers", TEXT_timers, sizeof TEXT_timers - 1},
    {"node:timers/promises", TEXT_timers_promises, sizeof TEXT_timers_promises - 1},
    {"node:url", TEXT_url, sizeof TEXT_url - 1},
    {"node:util", TEXT_util, sizeof TEXT_util - 1},
};
