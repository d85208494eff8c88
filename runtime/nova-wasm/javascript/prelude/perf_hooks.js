// node:perf_hooks and the web's performance.

import * as native from "nova:native";
import { started } from "node:process";

class Performance {
  #marks = new Map();

  now() {
    return native.now() - started();
  }

  get timeOrigin() {
    return Date.now() - this.now();
  }

  mark(name) {
    const entry = { name, entryType: "mark", startTime: this.now(), duration: 0 };
    this.#marks.set(name, entry);
    return entry;
  }

  measure(name, from, to) {
    const startTime = from === undefined ? 0 : this.#marks.get(from).startTime;
    const end = to === undefined ? this.now() : this.#marks.get(to).startTime;
    return { name, entryType: "measure", startTime, duration: end - startTime };
  }

  clearMarks() {
    this.#marks.clear();
  }
}

export const performance = new Performance();
export default { performance };
