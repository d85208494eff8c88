// Which file a specifier means, require(), and what an import of a script gives.
//
// C calls resolve() for import and evaluates ES modules; everything about scripts is here.

import * as native from "nova:native";
import { systemError } from "nova:fs_errors";
import { aliases, builtins } from "nova:builtins";
import {
  ArrayJoin, Error, HasOwn, JSONParse, ObjectCreate, ObjectKeys, ReflectApply, StringEndsWith, StringIncludes,
  StringLastIndexOf, StringSlice, StringStartsWith, TypeError, defineProperty, isArray, push, split,
} from "nova:primordials";
import { getCwd } from "nova:cwd";
import { noteScript } from "nova:columns";
import { process } from "node:process";

const ENDINGS = [".js", ".mjs", ".cjs", ".json"];
const INDEXES = ["/index.js", "/index.mjs", "/index.cjs", "/index.json"];

// Modules of Node that this runtime cannot have, and where it has what they are used for.
const ABSENT = {
  __proto__: null,
  child_process: "no processes can be started", cluster: "no processes can be started",
  dgram: "there is no network", dns: "there is no network", "dns/promises": "there is no network",
  http: "there is no network", http2: "there is no network", https: "there is no network", net: "there is no network",
  tls: "there is no network", inspector: "there is no debugger", repl: "there is no terminal", tty: "there is no terminal",
  worker_threads: "there are no threads", vm: "use eval or new Function", v8: "the engine is QuickJS",
  zlib: "compression is part of the Python runtime", stream: "use fs.createReadStream and fs.createWriteStream",
  "stream/promises": "use fs.createReadStream and fs.createWriteStream", sqlite: "SQLite is part of the Python runtime",
  "test": "use node:assert", async_hooks: "not supported", diagnostics_channel: "not supported",
  querystring: "use URLSearchParams", string_decoder: "use TextDecoder", punycode: "use URL", wasi: "not supported",
};

function collapse(path) {
  const parts = [];
  const all = split(path, "/");
  for (let i = 0; i < all.length; i++) {
    if (all[i] === "..") { if (parts.length > 0) parts.length--; } else if (all[i] !== "" && all[i] !== ".") push(parts, all[i]);
  }
  return "/" + ArrayJoin(parts, "/");
}

const directoryOf = (path) => {
  const at = StringLastIndexOf(path, "/");
  return at < 0 ? getCwd() : at === 0 ? "/" : StringSlice(path, 0, at);
};

/** 1 for a file, 2 for a directory, 0 for nothing. */
function kindOf(path) {
  const values = native.stat(path, true);
  if (typeof values === "number") return 0;
  return (values[2] & 0o170000) === 0o40000 ? 2 : 1;
}

function notFound(specifier, importer, reason) {
  const error = new Error("Cannot find module '" + specifier + "' imported from " + importer + reason);
  error.code = "ERR_MODULE_NOT_FOUND";
  defineProperty(error, "specifier", { __proto__: null, value: specifier }); // for the report
  return error;
}

function fileFor(base) {
  const kind = kindOf(base);
  if (kind === 1) return base;
  for (let i = 0; i < ENDINGS.length; i++) if (kindOf(base + ENDINGS[i]) === 1) return base + ENDINGS[i];
  if (kind === 2) {
    for (let i = 0; i < INDEXES.length; i++) if (kindOf(base + INDEXES[i]) === 1) return base + INDEXES[i];
  }
  return undefined;
}

/** A package that the user's own folder holds: main and the simple forms of exports. */
function packageFile(specifier, importer) {
  for (let folder = directoryOf(importer); ; folder = directoryOf(folder)) {
    const base = (folder === "/" ? "" : folder) + "/node_modules/" + specifier;
    const found = fileFor(base) ?? packageMain(base);
    if (found !== undefined || folder === "/") return found;
  }
}

function packageMain(base) {
  const bytes = native.readFile(base + "/package.json");
  if (typeof bytes === "number") return undefined;
  const description = JSONParse(native.decodeUtf8(bytes, false));
  const exported = description.exports?.["."] ?? description.exports;
  const choices = [exported?.import?.default, exported?.import, exported?.default?.default, exported?.default, exported?.require, exported, description.module, description.main];
  for (let i = 0; i < choices.length; i++) {
    if (typeof choices[i] !== "string") continue;
    const found = fileFor(collapse(base + "/" + choices[i]));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The canonical name of what `specifier` means in `importer`: node:name, or an absolute path. */
export function resolve(importer, specifier) {
  const isBuiltinName = StringStartsWith(specifier, "node:");
  const name = isBuiltinName ? StringSlice(specifier, 5) : specifier;
  const bare = aliases[name] ?? name;
  if (HasOwn(builtins, bare)) return "node:" + bare;
  if (isBuiltinName || bare in ABSENT) {
    const reason = ABSENT[bare];
    throw notFound(specifier, importer, ": not available in the WASM runtime" + (reason === undefined ? "" : (" (" + reason + ")")));
  }
  let base;
  if (StringStartsWith(specifier, "./") || StringStartsWith(specifier, "../") || specifier === "." || specifier === "..") {
    base = directoryOf(importer) + "/" + specifier;
  } else if (StringStartsWith(specifier, "/")) base = specifier;
  else if (StringStartsWith(specifier, "file:///")) base = StringSlice(specifier, 7);
  if (base === undefined) {
    const isUrl = StringIncludes(specifier, ":");
    const found = isUrl ? undefined : packageFile(specifier, importer);
    if (found !== undefined) return found;
    throw notFound(specifier, importer, isUrl
      ? ": modules cannot be loaded from the network here"
      : ": packages from npm are not available in the WASM runtime");
  }
  const path = collapse(base);
  const found = fileFor(path);
  if (found === undefined) throw notFound(specifier, importer, kindOf(path) === 2 ? " (a folder without index file)" : "");
  return found;
}

// ---- scripts -------------------------------------------------------------------------------

const cache = ObjectCreate(null);
let mainModule;

class Module {
  constructor(filename, parent) {
    this.id = filename;
    this.filename = filename;
    this.path = directoryOf(filename);
    this.exports = {};
    this.loaded = false;
    this.parent = parent;
    this.children = [];
  }
}

function requireFor(module) {
  function require(specifier) {
    if (typeof specifier !== "string" || specifier === "") throw new TypeError("require needs the name of a module");
    const name = resolve(module.filename, specifier);
    if (StringStartsWith(name, "node:")) return builtins[StringSlice(name, 5)];
    return load(name, module).exports;
  }
  require.resolve = (specifier) => resolve(module.filename, specifier);
  require.main = mainModule;
  require.cache = cache;
  return require;
}

function readText(path) {
  const bytes = native.readFile(path);
  if (typeof bytes === "number") throw systemError(bytes, "open", path);
  const text = native.decodeUtf8(bytes, false);
  return StringStartsWith(text, "\ufeff") ? StringSlice(text, 1) : text;
}

function parseJson(path) {
  try {
    return JSONParse(readText(path));
  } catch (error) {
    error.message = path + ": " + error.message;
    throw error;
  }
}

function load(path, parent) {
  const known = cache[path];
  if (known !== undefined) return known;
  const module = new Module(path, parent);
  if (StringEndsWith(path, ".json")) {
    module.exports = parseJson(path);
    module.loaded = true;
    cache[path] = module;
    return module;
  }
  if (StringEndsWith(path, ".mjs")) throw cannotRequire(path);
  const text = readText(path);
  let body;
  try {
    body = native.compileScript(text, path);
  } catch (error) {
    throw isModuleText(text) ? cannotRequire(path) : error;
  }
  cache[path] = module;
  noteScript(path);
  try {
    run(body, module);
  } catch (error) {
    delete cache[path];
    throw error;
  }
  return module;
}

const MODULE_SYNTAX = /^\s*(?:import\b(?!\s*\()|export\b)/m;
const isModuleText = (text) => MODULE_SYNTAX.test(text);

function cannotRequire(path) {
  const error = new Error("require() of the ES module " + path + " is not supported: use import");
  error.code = "ERR_REQUIRE_ESM";
  return error;
}

function run(body, module) {
  ReflectApply(body, module.exports, [module.exports, requireFor(module), module, module.filename, module.path]);
  module.loaded = true;
}

/** The main program, compiled by native.compileScript. */
export function runScript(body, name) {
  const module = new Module(StringStartsWith(name, "/") ? name : getCwd() + "/" + name, null);
  mainModule = module;
  noteScript(name);
  process.mainModule = module;
  cache[module.filename] = module;
  run(body, module);
}

function exportList(value) {
  const list = ["default", value];
  if (value !== null && (typeof value === "object" || typeof value === "function") && !isArray(value)) {
    const keys = ObjectKeys(value);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === "default") continue;
      push(list, keys[i]);
      push(list, value[keys[i]]);
    }
  }
  return list;
}

/** Evaluates a script or JSON file that an ES module imports: [name, value, ...]. */
export function importScript(path) {
  return exportList(load(path, null).exports);
}

/** The same list, when the importing module is about to run. */
export function exportsOf(path) {
  return exportList(cache[path].exports);
}

export function fillImportMeta(meta, path, isMain) {
  const file = StringStartsWith(path, "/") ? path : getCwd() + "/" + path;
  meta.url = "file://" + file;
  meta.filename = file;
  meta.dirname = directoryOf(file);
  meta.main = isMain;
  meta.resolve = (specifier) => {
    const name = resolve(path, specifier);
    return StringStartsWith(name, "/") ? ("file://" + name) : name;
  };
}

/** For ES modules that also use require. */
export function createRequire(from) {
  const path = StringStartsWith(from, "file://") ? StringSlice(from, 7) : from;
  return requireFor(new Module(path, null));
}
