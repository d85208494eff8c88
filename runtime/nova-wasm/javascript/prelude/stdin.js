// process.stdin: all of standard input is there when the program starts, so it is read at once
// when first asked for. Chunks are strings.

import * as native from "nova:native";
import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers";
import { systemError } from "nova:fs_errors";

class StandardInput extends EventEmitter {
  fd = 0;
  isTTY = false;
  #flowing = false;

  #text() {
    const bytes = native.readFile(0);
    if (typeof bytes === "number") throw systemError(bytes, "read");
    return native.decodeUtf8(bytes, false);
  }

  on(name, listener) {
    super.on(name, listener);
    if (name === "data" || name === "end" || name === "readable") this.resume();
    return this;
  }

  resume() {
    if (this.#flowing) return this;
    this.#flowing = true;
    setImmediate(() => {
      const text = this.#text();
      if (text !== "") this.emit("data", text);
      this.emit("end");
      this.emit("close");
    });
    return this;
  }

  read() {
    const text = this.#text();
    return text === "" ? null : text;
  }

  setEncoding() {
    return this;
  }

  pause() {
    return this;
  }

  ref() {
    return this;
  }

  unref() {
    return this;
  }

  pipe(target) {
    this.on("data", (chunk) => target.write(chunk));
    return target;
  }

  async *[Symbol.asyncIterator]() {
    const text = this.#text();
    if (text !== "") yield text;
  }
}

export const stdin = new StandardInput();
