// Timers and immediates. C asks turn() what to do next and runs the microtasks after each.

import * as native from "nova:native";
import {
  Map, MapDelete, MapGet, MapSet, MathMax, ReflectApply, Symbol, TypeError, push,
} from "nova:primordials";

const { now } = native;
const LONGEST_MS = 2 ** 31 - 1;
// After the present round, and before anything that waits.
const NEXT_ROUND_MS = 1e-3;

let nextId = 1;
const byId = new Map();
// A binary heap by (due, id); entries that were cleared stay until they come to the top.
const heap = [];
let referenced = 0;
// Timers run when they were due at this moment, which moves once per round of the loop.
let roundTime = -Infinity;
let pendingImmediates = [];
let currentImmediates = [];
let nextImmediate = 0;

const before = (a, b) => a.due < b.due || (a.due === b.due && a.order < b.order);

function insert(timer) {
  let hole = heap.length;
  push(heap, timer);
  while (hole > 0) {
    const parent = (hole - 1) >> 1;
    if (!before(timer, heap[parent])) break;
    heap[hole] = heap[parent];
    hole = parent;
  }
  heap[hole] = timer;
}

function removeTop() {
  const last = heap[heap.length - 1];
  heap.length--;
  const { length } = heap;
  if (length === 0) return;
  let hole = 0;
  for (;;) {
    let child = 2 * hole + 1;
    if (child >= length) break;
    if (child + 1 < length && before(heap[child + 1], heap[child])) child++;
    if (!before(heap[child], last)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = last;
}

let order = 0;

class Timeout {
  constructor(callback, delay, args, repeats) {
    this.callback = callback;
    this.delay = delay;
    this.args = args;
    this.repeats = repeats;
    this.id = nextId++;
    this.active = true;
    this.isReferenced = true;
    referenced++;
    MapSet(byId, this.id, this);
    this.schedule();
  }

  schedule() {
    this.order = order++;
    // 0 and 1 ms mean "in the next round of the loop", which needs no clock.
    if (this.delay > 1 || this.repeats) this.due = now() + this.delay;
    else this.due = MathMax(roundTime, 0) + NEXT_ROUND_MS;
    insert(this);
  }

  ref() {
    if (this.active && !this.isReferenced) referenced++;
    this.isReferenced = true;
    return this;
  }

  unref() {
    if (this.active && this.isReferenced) referenced--;
    this.isReferenced = false;
    return this;
  }

  hasRef() {
    return this.isReferenced;
  }

  /** Starts its time anew. */
  refresh() {
    if (!this.active) return this;
    for (let i = 0; i < heap.length; i++) {
      // A stand-in keeps the heap's order; turn() drops it.
      if (heap[i] === this) heap[i] = { due: this.due, order: this.order, active: false };
    }
    this.schedule();
    return this;
  }

  close() {
    clearTimeout(this);
    return this;
  }

  [Symbol.toPrimitive]() {
    return this.id;
  }

  [Symbol.for("nodejs.util.inspect.custom")]() {
    return "Timeout { id: " + this.id + ", delay: " + this.delay + ", repeats: " + this.repeats + " }";
  }
}

function stop(timer) {
  if (!timer.active) return;
  timer.active = false;
  if (timer.isReferenced) referenced--;
  MapDelete(byId, timer.id);
}

function checkCallback(callback) {
  if (typeof callback !== "function") {
    const error = new TypeError('The "callback" argument must be of type function.');
    error.code = "ERR_INVALID_ARG_TYPE";
    throw error;
  }
}

function delayOf(value) {
  const delay = +value;
  return delay >= 1 && delay <= LONGEST_MS ? delay : 1;
}

export function setTimeout(callback, delay, ...args) {
  checkCallback(callback);
  return new Timeout(callback, delayOf(delay), args, false);
}

export function setInterval(callback, delay, ...args) {
  checkCallback(callback);
  return new Timeout(callback, delayOf(delay), args, true);
}

export function clearTimeout(timer) {
  if (timer instanceof Timeout) stop(timer);
  else if (typeof timer === "number" || typeof timer === "string") {
    const found = MapGet(byId, +timer);
    if (found !== undefined) stop(found);
  }
}

export const clearInterval = clearTimeout;

class Immediate {
  constructor(callback, args) {
    this.callback = callback;
    this.args = args;
    this.active = true;
    push(pendingImmediates, this);
  }
}

export function setImmediate(callback, ...args) {
  checkCallback(callback);
  return new Immediate(callback, args);
}

export function clearImmediate(immediate) {
  if (immediate instanceof Immediate) immediate.active = false;
}

/**
 * Runs at most one callback.
 * @returns {number} milliseconds to wait before the next call, 0 for none, -1 when nothing is left
 */
export function turn() {
  while (heap.length > 0 && !heap[0].active) removeTop();
  const top = heap.length > 0 ? heap[0] : undefined;
  if (top !== undefined && top.due <= roundTime) {
    removeTop();
    if (!top.repeats) stop(top);
    try {
      ReflectApply(top.callback, undefined, top.args);
    } finally {
      if (top.repeats && top.active) top.schedule();
    }
    return 0;
  }
  while (nextImmediate < currentImmediates.length) {
    const immediate = currentImmediates[nextImmediate++];
    if (!immediate.active) continue;
    ReflectApply(immediate.callback, undefined, immediate.args);
    return 0;
  }
  if (pendingImmediates.length > 0) {
    currentImmediates = pendingImmediates;
    pendingImmediates = [];
    nextImmediate = 0;
    roundTime = now();
    return 0;
  }
  if (top === undefined || referenced === 0) return -1;
  roundTime = now();
  return MathMax(0, top.due - roundTime);
}

const timers = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
export default timers;
