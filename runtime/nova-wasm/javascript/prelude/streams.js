// Streams as far as files and standard input need them: the data is in memory, so there is one
// chunk, and no back-pressure.

import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers";
import { decode } from "node:buffer";

export class ReadStream extends EventEmitter {
  #load;
  #encoding;
  #flowing = false;

  /** @param {() => string | Uint8Array} load gives the rest of the content, once per call */
  constructor(load, encoding = undefined) {
    super();
    this.#load = load;
    this.#encoding = encoding;
  }

  /** The rest of the content, or null when there is none. */
  read() {
    this.#flowing = true;
    const content = this.#load();
    if (content.length === 0) return null;
    return this.#encoding !== undefined && typeof content !== "string" ? decode(content, this.#encoding) : content;
  }

  on(name, listener) {
    super.on(name, listener);
    if (name === "data" || name === "end" || name === "close") this.resume();
    return this;
  }

  resume() {
    if (this.#flowing) return this;
    this.#flowing = true;
    setImmediate(() => {
      let chunk;
      try {
        chunk = this.read();
      } catch (error) {
        this.emit("error", error);
        this.emit("close");
        return;
      }
      if (chunk !== null) this.emit("data", chunk);
      this.emit("end");
      this.emit("close");
    });
    return this;
  }

  setEncoding(encoding) {
    this.#encoding = encoding;
    return this;
  }

  pipe(target) {
    this.on("data", (chunk) => target.write(chunk));
    this.on("end", () => {
      if (target.fd === undefined || target.fd > 2) target.end();
    });
    return target;
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

  destroy() {
    this.#load = () => "";
    return this;
  }

  close() {
    return this.destroy();
  }

  async *[Symbol.asyncIterator]() {
    const chunk = this.read();
    if (chunk !== null) yield chunk;
  }
}

export class WriteStream extends EventEmitter {
  #write;
  #close;
  #ended = false;
  writable = true;
  bytesWritten = 0;

  /**
   * @param {(data: string | Uint8Array, encoding?: string) => number} write returns the bytes
   * @param {() => void} close
   */
  constructor(write, close) {
    super();
    this.#write = write;
    this.#close = close;
  }

  write(data, encoding, callback) {
    if (this.#ended) {
      const error = new Error("write after end");
      error.code = "ERR_STREAM_WRITE_AFTER_END";
      throw error;
    }
    this.bytesWritten += this.#write(data, typeof encoding === "string" ? encoding : undefined);
    const done = typeof encoding === "function" ? encoding : callback;
    if (typeof done === "function") setImmediate(done);
    return true;
  }

  end(data, encoding, callback) {
    const done = [data, encoding, callback].find((argument) => typeof argument === "function");
    if (this.#ended) return this;
    if (data !== undefined && data !== null && typeof data !== "function") {
      this.write(data, typeof encoding === "string" ? encoding : undefined);
    }
    this.#ended = true;
    this.writable = false;
    this.#close();
    if (done !== undefined) this.once("finish", done);
    setImmediate(() => {
      this.emit("finish");
      this.emit("close");
    });
    return this;
  }

  close(callback) {
    return this.end(callback);
  }

  destroy() {
    return this.end();
  }
}
