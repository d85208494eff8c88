// node:process

import * as native from "nova:native";
import { EventEmitter } from "node:events";
import { getCwd, setCwd } from "nova:cwd";
import { stdin } from "nova:stdin";
import { turn } from "node:timers";
import { systemError } from "nova:fs_errors";
import { format } from "nova:inspect";
import {
  ArraySlice, MathFloor, NumberIsInteger, ReflectApply, StringStartsWith, TypeError, push,
} from "nova:primordials";

let startedMs = 0;
let ticks = [];
let exiting = false;
let exitCode;

class OutputStream extends EventEmitter {
  constructor(fd) {
    super();
    this.fd = fd;
    this.isTTY = false;
    this.writable = true;
    this.columns = 80;
  }

  write(data, encoding, callback) {
    if (typeof data !== "string" && !ArrayBuffer.isView(data)) {
      const error = new TypeError('The "chunk" argument must be of type string or an instance of Buffer or Uint8Array.');
      error.code = "ERR_INVALID_ARG_TYPE";
      throw error;
    }
    native.write(this.fd, data);
    const done = typeof encoding === "function" ? encoding : callback;
    if (typeof done === "function") native.queueMicrotask(() => done());
    return true;
  }

  end(data, encoding, callback) {
    if (data !== undefined && typeof data !== "function") this.write(data, encoding, callback);
  }

  getColorDepth() {
    return 1;
  }

  hasColors() {
    return false;
  }
}

function integerCode(code) {
  if (code === undefined || code === null) return undefined;
  const number = typeof code === "string" && code !== "" ? +code : code;
  if (!NumberIsInteger(number)) {
    const error = new TypeError("The \"code\" argument must be of type number. Received " + (typeof code));
    error.code = "ERR_INVALID_ARG_TYPE";
    throw error;
  }
  return number;
}

class Process extends EventEmitter {
  title = "nova";
  version = "v22.0.0";
  versions = { node: "22.0.0", quickjs: "2025-04-26" };
  platform = "wasi";
  arch = "wasm32";
  pid = 1;
  ppid = 0;
  execPath = "nova";
  execArgv = [];
  argv = ["nova"];
  argv0 = "nova";
  env = {};
  stdin = stdin;
  stdout = new OutputStream(1);
  stderr = new OutputStream(2);
  release = { name: "nova" };
  features = {};
  config = { variables: {} };

  get exitCode() {
    return exitCode;
  }

  set exitCode(code) {
    exitCode = integerCode(code);
  }

  exit(code) {
    if (code !== undefined) exitCode = integerCode(code);
    native.exit(finish(undefined));
  }

  abort() {
    native.exit(134);
  }

  cwd() {
    return getCwd();
  }

  chdir(directory) {
    const target = StringStartsWith(directory, "/") ? directory : getCwd() + "/" + directory;
    const info = native.stat(target, true);
    if (typeof info === "number") throw systemError(info, "chdir", directory);
    if ((info[2] & 0o170000) !== 0o40000) throw systemError(-54, "chdir", directory);
    const parts = [];
    for (const part of target.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    setCwd("/" + parts.join("/"));
  }

  nextTick(callback, ...args) {
    if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
    push(ticks, { callback, args });
  }

  uptime() {
    return (native.now() - startedMs) / 1000;
  }

  memoryUsage() {
    const [rss, heapUsed] = native.memoryBytes();
    return { rss, heapTotal: rss, heapUsed, external: 0, arrayBuffers: 0 };
  }

  cpuUsage() {
    return { user: MathFloor((native.now() - startedMs) * 1000), system: 0 };
  }

  umask() {
    return 0o22;
  }

  emitWarning(warning) {
    native.write(2, "(nova) " + (typeof warning === "string" ? ("Warning: " + warning) : format([warning])) + "\n");
  }

  getuid() {
    return 0;
  }

  kill() {
    throw systemError(-63, "kill");
  }
}

export const process = new Process();

process.hrtime = (previous) => {
  const ms = native.now();
  let seconds = MathFloor(ms / 1000);
  let nanoseconds = MathFloor((ms - seconds * 1000) * 1e6);
  if (previous !== undefined) {
    seconds -= previous[0];
    nanoseconds -= previous[1];
    if (nanoseconds < 0) {
      seconds--;
      nanoseconds += 1e9;
    }
  }
  return [seconds, nanoseconds];
};
process.hrtime.bigint = () => BigInt(MathFloor(native.now() * 1e6));

/** Runs what nextTick queued; C calls it before it runs microtasks. */
export function drainTicks() {
  if (ticks.length === 0) return false;
  let at = 0;
  try {
    while (at < ticks.length) {
      const tick = ticks[at++];
      ReflectApply(tick.callback, undefined, tick.args);
    }
  } finally {
    ticks = at < ticks.length ? ArraySlice(ticks, at) : [];
  }
  return true;
}

// EventEmitter's methods as they are now: a program may replace those of the prototype.
const { emit, listenerCount } = EventEmitter.prototype;
const emitOn = (name, first, second) => ReflectApply(emit, process, [name, first, second]);

/** Runs the exit listeners, once. @returns the exit code */
export function finish(code) {
  if (code !== undefined) exitCode = code;
  if (!exiting) {
    exiting = true;
    const given = exitCode ?? 0;
    emitOn("exit", given);
  }
  return exitCode ?? 0;
}

let toldOfEnd = false;

/**
 * What C asks in each round of the loop; "beforeExit" comes when nothing is left, and may start
 * something new.
 * @returns {number} as turn() of node:timers
 */
export function turnOrEnd() {
  const wait = turn();
  if (wait >= 0) {
    toldOfEnd = false;
    return wait;
  }
  if (toldOfEnd || ReflectApply(listenerCount, process, ["beforeExit"]) === 0) return -1;
  toldOfEnd = true;
  emitOn("beforeExit", exitCode ?? 0);
  return 0;
}

/** Whether a listener of the program takes an error that nobody caught. */
export function onUncaught(error, inPromise) {
  if (inPromise && emitOn("unhandledRejection", error, undefined)) return true;
  return emitOn("uncaughtException", error, inPromise ? "unhandledRejection" : "uncaughtException");
}

/** Starts the clocks and names of this run. */
export function beginProcess(given, name) {
  startedMs = native.now();
  const list = ["nova", name];
  for (let i = 1; i < given.length; i++) push(list, given[i]);
  process.argv = list;
  argv = list;
  env = {};
  const pairs = native.environment();
  for (let i = 0; i < pairs.length; i += 2) env[pairs[i]] = pairs[i + 1];
  process.env = env;
}

export const started = () => startedMs;

// Filled when a run begins; a module's exports are the same binding for every importer.
export let argv;
export let env;
export const { stdout, stderr } = process;
export const exit = process.exit.bind(process);
export const cwd = process.cwd.bind(process);
export const chdir = process.chdir.bind(process);
export const nextTick = process.nextTick.bind(process);
export const { hrtime } = process;
export default process;
