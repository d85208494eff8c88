// Puts the globals in place and gives C the functions that run a program (see nova_js.c).

import * as native from "nova:native";
import { console } from "node:console";
import { AbortController, AbortSignal, CustomEvent, Event, EventTarget } from "node:events";
import { DOMException, TextDecoder, TextEncoder, atob, btoa } from "nova:encoding";
import { Buffer, installUint8ArrayHelpers } from "node:buffer";
import { URL, URLSearchParams } from "node:url";
import { structuredClone } from "nova:clone";
import { getRandomValues, randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { installLocaleFunctions } from "nova:locale";
import { beginProcess, process } from "node:process";
import { createRequire } from "nova:modules";
import timers from "node:timers";
import { inspect, inspectUncaught, isError } from "nova:inspect";
import {
  RegExpExec, TypeError, defineProperty, getOwnPropertyDescriptor,
} from "nova:primordials";

export { drainTicks, finish, onUncaught, turnOrEnd as turn } from "node:process";
export { exportsOf, fillImportMeta, importScript, resolve, runScript } from "nova:modules";

function queueMicrotask(callback) {
  if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
  native.queueMicrotask(callback);
}

const GLOBALS = {
  __proto__: null,
  console, process, ...timers, queueMicrotask, structuredClone, atob, btoa, performance, Buffer,
  TextEncoder, TextDecoder, URL, URLSearchParams, DOMException,
  Event, CustomEvent, EventTarget, AbortController, AbortSignal,
  crypto: { getRandomValues, randomUUID },
  global: globalThis,
  require: createRequire("/work/main.js"),
};
for (const name of Object.keys(GLOBALS)) {
  defineProperty(globalThis, name, { value: GLOBALS[name], writable: true, enumerable: false, configurable: true });
}
defineProperty(Math, "random", { value: native.random, writable: true, enumerable: false, configurable: true });
installUint8ArrayHelpers();
installLocaleFunctions();

Error.captureStackTrace = function captureStackTrace(target) {
  const { stack } = new Error(target.message);
  defineProperty(target, "stack", { value: stack, writable: true, enumerable: false, configurable: true });
};

/** The request's header: {name, entry, argv, ...}. */
export function begin(header) {
  beginProcess(header.argv, header.argv[0] ?? header.name);
}

// ---- errors --------------------------------------------------------------------------------

const UNDEFINED_NAME = /^'?(.+?)'? is not defined$/;

function textOf(value) {
  return typeof value === "string" ? value : "";
}

function ownData(object, key) {
  return textOf(getOwnPropertyDescriptor(object, key)?.value);
}

/** [text for standard error, type, message, module, path] of an error that nobody caught. */
export function describe(error, inPromise) {
  const shown = isError(error) ? inspectUncaught(error) : inspect(error);
  const text = "Uncaught " + (inPromise ? "(in promise) " : "") + shown + "\n";
  if (!isError(error)) return [text, error === null ? "null" : typeof error, inspect(error), "", ""];
  const message = textOf(error.message);
  const type = textOf(error.name) || "Error";
  let module = "";
  if (type === "ReferenceError") {
    const match = RegExpExec(UNDEFINED_NAME, message);
    if (match !== null) module = match[1];
  } else if (ownData(error, "code") === "ERR_MODULE_NOT_FOUND") module = ownData(error, "specifier");
  return [text, type, message, module, ownData(error, "path")];
}

// ---- before the snapshot -------------------------------------------------------------------

// What a usual program does is done once here, so that the properties QuickJS makes on first use
// and the pages they lie in are part of the snapshot.
function warmUp() {
  for (const constructor of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError]) {
    inspect(new constructor("x"));
  }
  inspect({ a: [1, "b", { c: null }], d: new Map([[1, new Set([2])]]), e: () => {}, f: new Date(0), g: /x/ });
  JSON.parse(JSON.stringify({ a: [1, 2.5, "x"] }));
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = name === "require" ? undefined : globalThis[name];
    for (const owner of [value, value?.prototype]) {
      if (owner === undefined || owner === null || owner === globalThis) continue;
      if (typeof owner === "object" || typeof owner === "function") for (const key of Reflect.ownKeys(owner)) getOwnPropertyDescriptor(owner, key);
    }
  }
}
warmUp();
