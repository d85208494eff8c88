// structuredClone (HTML, section 2.7), without transfer of ports.

import { DOMException } from "nova:encoding";
import { isArrayBuffer, isBoxedPrimitive, isDataView, isDate, isError, isMap, isPromise, isProxy, isRegExp, isSet, isTypedArray } from "nova:inspect";

function refuse(value) {
  const what = typeof value === "symbol" ? value.toString() : typeof value === "function" ? `${value}` : "#<Object>";
  throw new DOMException(`${what} could not be cloned.`, "DataCloneError");
}

const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

/** An empty copy of the right kind; its contents follow in `fill`, so that cycles close. */
function shell(value, clone) {
  if (isDate(value)) return new Date(value.getTime());
  if (isRegExp(value)) return new RegExp(value.source, value.flags);
  if (isBoxedPrimitive(value)) {
    const primitive = value.valueOf();
    if (typeof primitive === "symbol") refuse(primitive);
    return Object(primitive);
  }
  if (isArrayBuffer(value)) return value.slice(0);
  if (isTypedArray(value)) {
    const Type = globalThis[Object.getPrototypeOf(Uint8Array.prototype).__lookupGetter__(Symbol.toStringTag).call(value)];
    return new Type(clone(value.buffer), value.byteOffset, value.length);
  }
  if (isDataView(value)) return new DataView(clone(value.buffer), value.byteOffset, value.byteLength);
  if (isMap(value)) return new Map();
  if (isSet(value)) return new Set();
  if (Array.isArray(value)) return new Array(value.length);
  return {};
}

export function structuredClone(value, options) {
  const known = new Map();
  const pending = []; // a list instead of recursion: values may be nested deeply

  function clone(item) {
    if (typeof item === "symbol" || typeof item === "function") refuse(item);
    if (typeof item !== "object" || item === null) return item;
    if (known.has(item)) return known.get(item);
    if (isPromise(item) || isProxy(item) || item instanceof WeakMap || item instanceof WeakSet || item instanceof WeakRef) refuse(item);
    const copy = isError(item) ? copyError(item) : shell(item, clone);
    known.set(item, copy);
    pending.push(item);
    return copy;
  }

  function copyError(error) {
    const copy = new (ERRORS[error.name] ?? Error)(`${error.message}`);
    Object.defineProperty(copy, "stack", { value: `${error.stack}`, writable: true, configurable: true });
    return copy;
  }

  function fill(item, copy) {
    if (isMap(item)) for (const [key, entry] of [...item]) copy.set(clone(key), clone(entry));
    else if (isSet(item)) for (const entry of [...item]) copy.add(clone(entry));
    else if (isError(item)) {
      if (Object.hasOwn(item, "cause")) Object.defineProperty(copy, "cause", { value: clone(item.cause), writable: true, configurable: true });
    } else if (Array.isArray(item) || !(isDate(item) || isRegExp(item) || isBoxedPrimitive(item) || isArrayBuffer(item) || ArrayBuffer.isView(item))) {
      for (const key of Object.keys(item)) {
        Object.defineProperty(copy, key, { value: clone(item[key]), writable: true, enumerable: true, configurable: true });
      }
    }
  }

  for (const item of options?.transfer ?? []) if (!isArrayBuffer(item)) refuse(item);
  const result = clone(value);
  while (pending.length > 0) {
    const item = pending.pop();
    fill(item, known.get(item));
  }
  return result;
}
