// node:fs over /work and /tmp, which are in memory: so the synchronous functions cost nothing
// and the promise and callback forms are made from them.

import * as native from "nova:native";
import { bytesOf } from "nova:encoding";
import { decode, encode, bufferOf, Buffer } from "node:buffer";
import { systemError } from "nova:fs_errors";
import { getCwd } from "nova:cwd";
import path from "node:path";
import { setImmediate } from "node:timers";
import { ReadStream, WriteStream } from "nova:streams";
import { TypeError, PromiseThen, StringStartsWith } from "nova:primordials";
import { fileURLToPath, URL } from "node:url";

const { basename, dirname, join } = path;

// Flags of native.open, spelled alike in bindings.c.
const READ = 1, WRITE = 2, APPEND = 4, CREATE = 8, TRUNCATE = 16, EXCLUSIVE = 32;
const FLAGS = {
  __proto__: null,
  r: READ,
  "r+": READ | WRITE,
  w: WRITE | CREATE | TRUNCATE,
  "w+": READ | WRITE | CREATE | TRUNCATE,
  wx: WRITE | CREATE | TRUNCATE | EXCLUSIVE,
  "wx+": READ | WRITE | CREATE | TRUNCATE | EXCLUSIVE,
  a: WRITE | CREATE | APPEND,
  "a+": READ | WRITE | CREATE | APPEND,
  ax: WRITE | CREATE | APPEND | EXCLUSIVE,
  rs: READ,
};

export const constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1, S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o40000, S_IFLNK: 0o120000 };

function invalidArgument(name, expected) {
  const error = new TypeError(`The "${name}" argument must be ${expected}`);
  error.code = "ERR_INVALID_ARG_TYPE";
  return error;
}

const STREAMS = { __proto__: null, "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2 };

/** The absolute path that a string, Buffer or file: URL names, or a standard stream's descriptor. */
function pathOf(value, name = "path") {
  if (value instanceof URL) value = fileURLToPath(value);
  else if (value instanceof Uint8Array) value = decode(value);
  if (typeof value !== "string") throw invalidArgument(name, "a string, a Buffer or a URL");
  return STREAMS[value] ?? absolute(value);
}

function absolute(value) {
  return StringStartsWith(value, "/") ? value : `${getCwd()}/${value}`;
}

function check(result, syscall, file, dest) {
  if (typeof result === "number" && result < 0) throw systemError(result, syscall, file, dest);
  return result;
}

function flagsOf(flags) {
  const found = typeof flags === "number" ? undefined : FLAGS[flags];
  if (found === undefined) throw invalidArgument("flags", `one of ${Object.keys(FLAGS).join(", ")}`);
  return found;
}

const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding);

function dataOf(data, options) {
  if (typeof data === "string") {
    const encoding = encodingOf(options);
    return encoding === undefined || encoding === null ? data : encode(data, encoding);
  }
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return bytesOf(data);
  throw invalidArgument("data", "a string, a Buffer, a TypedArray or a DataView");
}

// ---- whole files ---------------------------------------------------------------------------

export function readFileSync(file, options) {
  const source = typeof file === "number" ? file : pathOf(file);
  const bytes = check(native.readFile(source), "open", typeof file === "number" ? undefined : file);
  const encoding = encodingOf(options);
  if (encoding === undefined || encoding === null || encoding === "buffer") return bufferOf(bytes);
  return decode(new Uint8Array(bytes), encoding);
}

function writeAll(fd, data) {
  if (fd === 1 || fd === 2) {
    native.write(fd, data); // keeps the order with console.log
    return;
  }
  let bytes = typeof data === "string" ? encode(data) : data;
  while (bytes.length > 0) {
    const count = check(native.writeAt(fd, bytes, -1), "write");
    bytes = bytes.subarray(count);
  }
}

export function writeFileSync(file, data, options) {
  const content = dataOf(data, options);
  const target = typeof file === "number" ? file : pathOf(file);
  if (typeof target === "number") {
    writeAll(target, content);
    return;
  }
  const fd = openSync(file, options?.flag ?? "w", options?.mode);
  try {
    writeAll(fd, content);
  } finally {
    native.close(fd);
  }
}

export function appendFileSync(file, data, options) {
  writeFileSync(file, data, { flag: "a", ...(typeof options === "string" ? { encoding: options } : options) });
}

export function copyFileSync(from, to, mode = 0) {
  const source = check(native.readFile(pathOf(from)), "copyfile", from, to);
  const fd = check(
    native.open(pathOf(to), mode & constants.COPYFILE_EXCL ? FLAGS.wx : FLAGS.w, 0o666), "copyfile", from, to);
  try {
    writeAll(fd, new Uint8Array(source));
  } finally {
    native.close(fd);
  }
}

// ---- descriptors ---------------------------------------------------------------------------

export function openSync(file, flags = "r", mode = 0o666) {
  const target = pathOf(file);
  return typeof target === "number" ? target : check(native.open(target, flagsOf(flags), mode), "open", file);
}

export function closeSync(fd) {
  check(native.close(fd), "close");
}

export function readSync(fd, buffer, offset = 0, length = undefined, position = null) {
  if (typeof offset === "object" && offset !== null) return readSync(fd, buffer, offset.offset, offset.length, offset.position);
  const bytes = bytesOf(buffer);
  const part = bytes.subarray(offset, length === undefined ? bytes.length : offset + length);
  return check(native.readAt(fd, part, position === null ? -1 : Number(position)), "read");
}

export function writeSync(fd, data, offset = undefined, length = undefined, position = null) {
  if (typeof data === "string") {
    const bytes = encode(data, typeof length === "string" ? length : "utf8");
    if (fd === 1 || fd === 2) native.write(fd, bytes);
    else check(native.writeAt(fd, bytes, typeof offset === "number" ? offset : -1), "write");
    return bytes.length;
  }
  const bytes = bytesOf(data);
  const part = bytes.subarray(offset ?? 0, length === undefined ? bytes.length : (offset ?? 0) + length);
  if (fd === 1 || fd === 2) {
    native.write(fd, part);
    return part.length;
  }
  return check(native.writeAt(fd, part, position === null ? -1 : Number(position)), "write");
}

export function ftruncateSync(fd, length = 0) {
  check(native.truncate(fd, length), "ftruncate");
}

export function truncateSync(file, length = 0) {
  const fd = openSync(file, "r+");
  try {
    ftruncateSync(fd, length);
  } finally {
    native.close(fd);
  }
}

export function fsyncSync() {}
export const fdatasyncSync = fsyncSync;

// ---- what is there -------------------------------------------------------------------------

export class Stats {
  constructor(values) {
    [this.dev, this.ino, this.mode, this.nlink, this.size, this.atimeMs, this.mtimeMs, this.ctimeMs] = values;
    // WASI has a file's type but no permissions.
    if ((this.mode & 0o777) === 0) this.mode |= this.isDirectory() ? 0o755 : 0o644;
    this.uid = 0;
    this.gid = 0;
    this.blksize = 4096;
    this.blocks = Math.ceil(this.size / 512);
    this.birthtimeMs = this.ctimeMs;
    this.atime = new Date(this.atimeMs);
    this.mtime = new Date(this.mtimeMs);
    this.ctime = new Date(this.ctimeMs);
    this.birthtime = this.ctime;
  }

  isFile() {
    return (this.mode & constants.S_IFMT) === constants.S_IFREG;
  }

  isDirectory() {
    return (this.mode & constants.S_IFMT) === constants.S_IFDIR;
  }

  isSymbolicLink() {
    return (this.mode & constants.S_IFMT) === constants.S_IFLNK;
  }

  isFIFO() {
    return false;
  }

  isSocket() {
    return false;
  }

  isBlockDevice() {
    return false;
  }

  isCharacterDevice() {
    return (this.mode & constants.S_IFMT) === 0o20000;
  }
}

const ENOENT = -44;
const ENOTDIR = -54;

function statOf(file, follow, syscall, options) {
  const values = native.stat(pathOf(file), follow);
  if ((values === ENOENT || values === ENOTDIR) && options?.throwIfNoEntry === false) return undefined;
  return new Stats(check(values, syscall, file));
}

export const statSync = (file, options) => statOf(file, true, "stat", options);
export const lstatSync = (file, options) => statOf(file, false, "lstat", options);
export const fstatSync = (fd) => new Stats(check(native.stat(fd, true), "fstat"));

export function existsSync(file) {
  try {
    return typeof native.stat(pathOf(file), true) !== "number";
  } catch {
    return false;
  }
}

export function accessSync(file) {
  check(native.stat(pathOf(file), true), "access", file);
}

export function realpathSync(file) {
  accessSync(file);
  return path.resolve(pathOf(file));
}

export class Dirent {
  #isDirectory;

  constructor(name, parentPath, isDirectory) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    this.#isDirectory = isDirectory;
  }

  isFile() {
    return !this.#isDirectory;
  }

  isDirectory() {
    return this.#isDirectory;
  }

  isSymbolicLink() {
    return false;
  }
}

export function readdirSync(directory, options) {
  const withTypes = options?.withFileTypes === true;
  const result = [];
  // A list instead of recursion: the tree may be deep.
  const pending = [""];
  while (pending.length > 0) {
    const prefix = pending.pop();
    const full = pathOf(directory);
    const parent = prefix === "" ? directory : join(`${directory}`, prefix);
    const entries = check(native.readDirectory(prefix === "" ? full : `${full}/${prefix}`), "scandir", parent);
    for (let i = 0; i < entries.length; i += 2) {
      const name = prefix === "" ? entries[i] : `${prefix}/${entries[i]}`;
      result.push(withTypes ? new Dirent(entries[i], parent, entries[i + 1]) : name);
      if (options?.recursive && entries[i + 1]) pending.push(name);
    }
  }
  const keyOf = withTypes ? (entry) => entry.name : (name) => name;
  return result.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

// ---- changing it ---------------------------------------------------------------------------

export function mkdirSync(directory, options) {
  const target = path.resolve(pathOf(directory));
  if (options?.recursive !== true) {
    check(native.mkdir(target), "mkdir", directory);
    return undefined;
  }
  const missing = [];
  for (let at = target; native.stat(at, true) === ENOENT && at !== "/"; at = dirname(at)) missing.push(at);
  if (missing.length === 0 && !statSync(target).isDirectory()) throw systemError(-20, "mkdir", directory);
  for (let i = missing.length - 1; i >= 0; i--) check(native.mkdir(missing[i]), "mkdir", directory);
  return missing.at(-1);
}

export function mkdtempSync(prefix) {
  for (;;) {
    let name = prefix;
    for (let i = 0; i < 6; i++) name += "abcdefghijklmnopqrstuvwxyz0123456789"[Math.floor(native.random() * 36)];
    const result = native.mkdir(pathOf(name, "prefix"));
    if (result !== -20) {
      check(result, "mkdtemp", name);
      return name;
    }
  }
}

export function rmdirSync(directory, options) {
  if (options?.recursive) rmSync(directory, options);
  else check(native.rmdir(pathOf(directory)), "rmdir", directory);
}

export function unlinkSync(file) {
  check(native.unlink(pathOf(file)), "unlink", file);
}

export function rmSync(target, options) {
  const full = pathOf(target);
  const values = native.stat(full, false);
  if (values === ENOENT && options?.force) return;
  const info = new Stats(check(values, "rm", target));
  if (!info.isDirectory()) {
    check(native.unlink(full), "rm", target);
    return;
  }
  if (!options?.recursive) {
    const error = systemError(-31, "rm", target);
    error.code = "ERR_FS_EISDIR";
    throw error;
  }
  // Depth first, without recursion.
  const directories = [full];
  for (let i = 0; i < directories.length; i++) {
    const entries = check(native.readDirectory(directories[i]), "rm", directories[i]);
    for (let j = 0; j < entries.length; j += 2) {
      const name = `${directories[i]}/${entries[j]}`;
      if (entries[j + 1]) directories.push(name);
      else check(native.unlink(name), "rm", name);
    }
  }
  for (let i = directories.length - 1; i >= 0; i--) check(native.rmdir(directories[i]), "rm", directories[i]);
}

export function renameSync(from, to) {
  check(native.rename(pathOf(from, "oldPath"), pathOf(to, "newPath")), "rename", from, to);
}

export function linkSync(from, to) {
  check(native.link(pathOf(from), pathOf(to)), "link", from, to);
}

export function symlinkSync(target, file) {
  check(native.symlink(`${target}`, pathOf(file)), "symlink", target, file);
}

export function readlinkSync(file) {
  throw systemError(check(native.stat(pathOf(file), false), "readlink", file) && -28, "readlink", file);
}

const msOf = (time) => (time instanceof Date ? time.getTime() : Number(time) * 1000);

export function utimesSync(file, accessTime, modificationTime) {
  check(native.setTimes(pathOf(file), msOf(accessTime), msOf(modificationTime)), "utime", file);
}

/** Files here have no permissions of their own; the host keeps those of the owner's files. */
export function chmodSync(file) {
  accessSync(file);
}

export function cpSync(from, to, options) {
  if (!statSync(from).isDirectory()) {
    mkdirSync(dirname(path.resolve(pathOf(to))), { recursive: true });
    copyFileSync(from, to);
    return;
  }
  if (!options?.recursive) throw systemError(-31, "cp", from, to);
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name);
    const target = join(`${to}`, path.relative(`${from}`, source));
    if (entry.isDirectory()) mkdirSync(target, { recursive: true });
    else {
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(source, target);
    }
  }
}

// ---- streams -------------------------------------------------------------------------------

export function createReadStream(file, options) {
  let rest = () => {
    const content = readFileSync(file);
    rest = () => "";
    const { start = 0, end = Infinity } = typeof options === "object" && options !== null ? options : {};
    return content.subarray(start, end + 1);
  };
  const stream = new ReadStream(() => rest(), encodingOf(options) ?? undefined);
  stream.path = file;
  if (!existsSync(file)) setImmediate(() => stream.resume()); // tells the error, unasked
  return stream;
}

export function createWriteStream(file, options) {
  const fd = openSync(file, options?.flags ?? "w", options?.mode);
  const write = (data, encoding) => {
    const content = dataOf(data, encoding ?? options);
    writeAll(fd, content);
    return typeof content === "string" ? Buffer.byteLength(content) : content.length;
  };
  const stream = new WriteStream(write, () => closeSync(fd));
  stream.path = file;
  stream.fd = fd;
  return stream;
}

// ---- promises and callbacks ----------------------------------------------------------------

const SYNCHRONOUS = {
  readFile: readFileSync, writeFile: writeFileSync, appendFile: appendFileSync, copyFile: copyFileSync,
  stat: statSync, lstat: lstatSync, access: accessSync, realpath: realpathSync, readdir: readdirSync,
  mkdir: mkdirSync, mkdtemp: mkdtempSync, rmdir: rmdirSync, rm: rmSync, unlink: unlinkSync, rename: renameSync,
  truncate: truncateSync, utimes: utimesSync, chmod: chmodSync, cp: cpSync, link: linkSync, symlink: symlinkSync,
  readlink: readlinkSync,
};

class FileHandle {
  constructor(fd) {
    this.fd = fd;
  }

  async read(buffer, offset, length, position) {
    return { bytesRead: readSync(this.fd, buffer, offset, length, position), buffer };
  }

  async write(data, offset, length, position) {
    return { bytesWritten: writeSync(this.fd, data, offset, length, position), buffer: data };
  }

  async readFile(options) {
    return readFileSync(this.fd, options);
  }

  async writeFile(data, options) {
    writeFileSync(this.fd, data, options);
  }

  async appendFile(data, options) {
    writeFileSync(this.fd, data, options);
  }

  async stat() {
    return fstatSync(this.fd);
  }

  async truncate(length) {
    ftruncateSync(this.fd, length);
  }

  async *readLines() {
    yield* linesOf((await this.readFile("utf8")));
  }

  async close() {
    closeSync(this.fd);
  }
}

export function* linesOf(text) {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  yield* lines;
}

export const promises = {
  async open(file, flags, mode) {
    return new FileHandle(openSync(file, flags, mode));
  },
  constants,
};
const callbacks = {};
for (const [name, run] of Object.entries(SYNCHRONOUS)) {
  promises[name] = { async [name](...args) { return run(...args); } }[name];
  callbacks[name] = { [name](...args) {
    const callback = args.pop();
    if (typeof callback !== "function") throw invalidArgument("cb", "a function");
    PromiseThen(promises[name](...args), (value) => callback(null, value), (error) => callback(error));
  } }[name];
}
callbacks.exists = (file, callback) => callback(existsSync(file));

export const {
  readFile, writeFile, appendFile, copyFile, stat, lstat, access, realpath, readdir, mkdir, mkdtemp, rmdir, rm,
  unlink, rename, truncate, utimes, chmod, cp, exists,
} = callbacks;

export default {
  ...callbacks, promises, constants, Stats, Dirent,
  readFileSync, writeFileSync, appendFileSync, copyFileSync, openSync, closeSync, readSync, writeSync, ftruncateSync,
  truncateSync, fsyncSync, fdatasyncSync, statSync, lstatSync, fstatSync, existsSync, accessSync, realpathSync,
  readdirSync, mkdirSync, mkdtempSync, rmdirSync, unlinkSync, rmSync, renameSync, linkSync, symlinkSync, readlinkSync,
  utimesSync, chmodSync, cpSync, createReadStream, createWriteStream, ReadStream, WriteStream,
};
export { ReadStream, WriteStream };
