// node:events and the web's EventTarget and AbortController.

import { DOMException } from "nova:encoding";
import { isError } from "nova:inspect";
import { ArraySlice, Error, Map, MapDelete, MapGet, MapSet, ReflectApply, TypeError, push } from "nova:primordials";

// With primordials, because process is an emitter and must end a program whatever it did to the
// prototypes.
export class EventEmitter {
  #listeners = new Map();

  on(name, listener) {
    if (typeof listener !== "function") throw new TypeError('The "listener" argument must be of type function.');
    // A new list each time: one that is being emitted stays as it is.
    const list = ArraySlice(MapGet(this.#listeners, name) ?? []);
    push(list, listener);
    MapSet(this.#listeners, name, list);
    return this;
  }

  prependListener(name, listener) {
    const known = MapGet(this.#listeners, name) ?? [];
    MapDelete(this.#listeners, name);
    this.on(name, listener);
    for (let i = 0; i < known.length; i++) this.on(name, known[i]);
    return this;
  }

  once(name, listener) {
    const wrapped = (...args) => {
      this.off(name, wrapped);
      return ReflectApply(listener, this, args);
    };
    wrapped.listener = listener;
    return this.on(name, wrapped);
  }

  off(name, listener) {
    const list = MapGet(this.#listeners, name) ?? [];
    let found = list.length - 1;
    while (found >= 0 && list[found] !== listener && list[found].listener !== listener) found--;
    if (found < 0) return this;
    const rest = [];
    for (let i = 0; i < list.length; i++) if (i !== found) push(rest, list[i]);
    if (rest.length > 0) MapSet(this.#listeners, name, rest);
    else MapDelete(this.#listeners, name);
    return this;
  }

  removeAllListeners(name) {
    if (name === undefined) this.#listeners = new Map();
    else MapDelete(this.#listeners, name);
    return this;
  }

  emit(name, ...args) {
    const list = MapGet(this.#listeners, name);
    if (list === undefined) {
      if (name !== "error") return false;
      if (isError(args[0])) throw args[0];
      const error = new Error("Unhandled error. (" + args[0] + ")");
      error.code = "ERR_UNHANDLED_ERROR";
      throw error;
    }
    for (let i = 0; i < list.length; i++) ReflectApply(list[i], this, args);
    return true;
  }

  listeners(name) {
    return (MapGet(this.#listeners, name) ?? []).map((known) => known.listener ?? known);
  }

  listenerCount(name) {
    return MapGet(this.#listeners, name)?.length ?? 0;
  }

  eventNames() {
    return [...this.#listeners.keys()];
  }

  setMaxListeners() {
    return this;
  }

  getMaxListeners() {
    return Infinity;
  }
}
EventEmitter.prototype.addListener = EventEmitter.prototype.on;
EventEmitter.prototype.removeListener = EventEmitter.prototype.off;

/** The arguments of the emitter's next event of this name. */
export function once(emitter, name) {
  return new Promise((resolve, reject) => {
    const fail = (error) => {
      emitter.off(name, done);
      reject(error);
    };
    const done = (...args) => {
      emitter.off("error", fail);
      resolve(args);
    };
    emitter.once(name, done);
    if (name !== "error") emitter.once("error", fail);
  });
}

EventEmitter.EventEmitter = EventEmitter;
EventEmitter.once = once;
export default EventEmitter;

export class Event {
  constructor(type, { cancelable = false } = {}) {
    this.type = "" + type;
    this.cancelable = cancelable;
    this.defaultPrevented = false;
    this.target = null;
  }

  preventDefault() {
    if (this.cancelable) this.defaultPrevented = true;
  }
}

export class CustomEvent extends Event {
  constructor(type, options = {}) {
    super(type, options);
    this.detail = options.detail ?? null;
  }
}

export class EventTarget {
  #listeners = new Map();

  addEventListener(type, listener, options) {
    const list = this.#listeners.get(type) ?? [];
    if (list.some((known) => known.listener === listener)) return;
    this.#listeners.set(type, [...list, { listener, once: !!options?.once }]);
  }

  removeEventListener(type, listener) {
    this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((known) => known.listener !== listener));
  }

  dispatchEvent(event) {
    event.target = this;
    for (const { listener, once: single } of this.#listeners.get(event.type) ?? []) {
      if (single) this.removeEventListener(event.type, listener);
      if (typeof listener === "function") ReflectApply(listener, this, [event]);
      else listener.handleEvent(event);
    }
    return !event.defaultPrevented;
  }
}

const construct = Symbol("construct");

export class AbortSignal extends EventTarget {
  constructor(token) {
    super();
    if (token !== construct) throw new TypeError("Illegal constructor");
    this.aborted = false;
    this.reason = undefined;
    this.onabort = null;
  }

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  static abort(reason) {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static timeout(delay) {
    const controller = new AbortController();
    const timer = globalThis.setTimeout(
      () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
      delay,
    );
    timer.unref();
    return controller.signal;
  }
}

export class AbortController {
  constructor() {
    this.signal = new AbortSignal(construct);
  }

  abort(reason = new DOMException("This operation was aborted", "AbortError")) {
    const { signal } = this;
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason;
    const event = new Event("abort");
    signal.onabort?.(event);
    signal.dispatchEvent(event);
  }
}
