// node:readline and node:readline/promises over standard input.

import { EventEmitter } from "node:events";
import { stdin } from "nova:stdin";
import { linesOf } from "node:fs";
import { setImmediate } from "node:timers";

export class Interface extends EventEmitter {
  #lines;
  #closed = false;
  #started = false;
  #output;

  constructor({ input = stdin, output } = {}) {
    super();
    this.#output = output;
    this.input = input;
    this.#lines = undefined;
  }

  /** Reads the whole input when the first line is wanted. */
  #next() {
    this.#lines ??= linesOf(`${this.input.read() ?? ""}`);
    return this.#lines.next();
  }

  on(name, listener) {
    super.on(name, listener);
    if ((name === "line" || name === "close") && !this.#started) {
      this.#started = true;
      setImmediate(() => this.#pump());
    }
    return this;
  }

  #pump() {
    while (!this.#closed && this.listenerCount("line") > 0) {
      const { value, done } = this.#next();
      if (done) this.close();
      else this.emit("line", value);
    }
    this.#started = false;
  }

  question(query, options, callback = options) {
    this.#output?.write(query);
    const { value, done } = this.#next();
    if (done) {
      this.#output?.write("\n");
      this.close();
      return;
    }
    setImmediate(() => callback(value));
  }

  write(text) {
    this.#output?.write(text);
  }

  setPrompt(text) {
    this.prompt = () => this.#output?.write(text);
  }

  prompt() {
    this.#output?.write("> ");
  }

  pause() {
    return this;
  }

  resume() {
    return this;
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.emit("close");
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      const { value, done } = this.#next();
      if (done || this.#closed) break;
      yield value;
    }
    this.close();
  }
}

class PromiseInterface extends Interface {
  question(query) {
    return new Promise((resolve, reject) => {
      let answered = false;
      this.once("close", () => {
        if (answered) return;
        const error = new Error("standard input ended before the question was answered");
        error.code = "ERR_USE_AFTER_CLOSE";
        reject(error);
      });
      super.question(query, (answer) => {
        answered = true;
        resolve(answer);
      });
    });
  }
}

export const createInterface = (options, output) =>
  new Interface(options instanceof EventEmitter ? { input: options, output } : options);
export const promises = {
  Interface: PromiseInterface,
  createInterface: (options) => new PromiseInterface(options),
};
export const clearLine = () => true;
export const cursorTo = () => true;
export default { Interface, createInterface, promises, clearLine, cursorTo };
