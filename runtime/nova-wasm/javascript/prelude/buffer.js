// A small Buffer: a Uint8Array that knows text encodings, so that readFileSync(...).toString()
// and the like mean what they mean in Node. It lacks the readUInt32BE family: use a DataView.

import * as native from "nova:native";
import { atob, btoa, bytesOf } from "nova:encoding";
import { custom } from "nova:inspect";

function encodingOf(name) {
  const encoding = `${name ?? "utf8"}`.toLowerCase();
  switch (encoding) {
    case "utf8": case "utf-8": return "utf8";
    case "hex": case "base64": case "base64url": return encoding;
    case "latin1": case "binary": return "latin1";
    case "ascii": return "ascii";
    case "utf16le": case "utf-16le": case "ucs2": case "ucs-2": return "utf16le";
    default: {
      const error = new TypeError(`Unknown encoding: ${name}`);
      error.code = "ERR_UNKNOWN_ENCODING";
      throw error;
    }
  }
}

/** Text to bytes in one of Node's encodings. */
export function encode(text, encoding) {
  switch (encodingOf(encoding)) {
    case "utf8": return new Uint8Array(native.encodeUtf8(text));
    case "hex": {
      const digits = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
      const bytes = new Uint8Array(digits.length / 2);
      for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(digits.slice(2 * i, 2 * i + 2), 16);
      return bytes;
    }
    case "base64": case "base64url":
      return new Uint8Array(native.decodeBase64(text.replace(/[\s]/g, "")));
    case "utf16le": {
      const bytes = new Uint8Array(2 * text.length);
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        bytes[2 * i] = code;
        bytes[2 * i + 1] = code >> 8;
      }
      return bytes;
    }
    default: {
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      return bytes;
    }
  }
}

/** Bytes to text in one of Node's encodings. */
export function decode(bytes, encoding) {
  switch (encodingOf(encoding)) {
    case "utf8": return native.decodeUtf8(bytes, false);
    case "hex": {
      let text = "";
      for (let i = 0; i < bytes.length; i++) text += (bytes[i] < 16 ? "0" : "") + bytes[i].toString(16);
      return text;
    }
    case "base64": return native.encodeBase64(bytes);
    case "base64url":
      return native.encodeBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
    case "latin1": return native.decodeLatin1(bytes);
    case "ascii": return native.decodeLatin1(bytes.map((byte) => byte & 0x7f));
    default: {
      let text = "";
      for (let i = 0; i + 1 < bytes.length; i += 2) text += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
      return text;
    }
  }
}

const wrap = (bytes) => new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export class Buffer extends Uint8Array {
  static from(value, encodingOrOffset, length) {
    if (typeof value === "string") return wrap(encode(value, encodingOrOffset));
    if (value instanceof ArrayBuffer) return new Buffer(value, encodingOrOffset, length);
    if (value?.type === "Buffer" && Array.isArray(value.data)) return wrap(Uint8Array.from(value.data));
    if (value === null || typeof value !== "object") {
      throw new TypeError("Buffer.from needs a string, an array, an ArrayBuffer or a view");
    }
    return wrap(Uint8Array.from(value));
  }

  static alloc(size, fill, encoding) {
    const buffer = new Buffer(size);
    return fill === undefined || fill === 0 ? buffer : buffer.fill(fill, 0, size, encoding);
  }

  static allocUnsafe(size) {
    return new Buffer(size);
  }

  static byteLength(value, encoding) {
    return typeof value === "string" ? encode(value, encoding).length : value.byteLength;
  }

  static concat(list, total = list.reduce((sum, part) => sum + part.length, 0)) {
    const result = new Buffer(total);
    let offset = 0;
    for (const part of list) {
      if (offset >= total) break;
      result.set(part.subarray(0, total - offset), offset);
      offset += part.length;
    }
    return result;
  }

  static compare(a, b) {
    const length = Math.min(a.length, b.length);
    for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return Math.sign(a.length - b.length);
  }

  static isBuffer(value) {
    return value instanceof Buffer;
  }

  static isEncoding(name) {
    try {
      encodingOf(name);
      return typeof name === "string";
    } catch {
      return false;
    }
  }

  toString(encoding, start = 0, end = this.length) {
    return decode(this.subarray(start, end), encoding);
  }

  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  }

  equals(other) {
    return Buffer.compare(this, other) === 0;
  }

  compare(other) {
    return Buffer.compare(this, other);
  }

  write(text, offset = 0, length = this.length - offset, encoding = "utf8") {
    const bytes = encode(text, typeof length === "string" ? length : encoding).subarray(0, this.length - offset);
    this.set(bytes, offset);
    return bytes.length;
  }

  fill(value, start = 0, end = this.length, encoding = "utf8") {
    if (typeof value !== "string") return super.fill(value, start, end);
    const bytes = encode(value, encoding);
    for (let i = start; i < end; i++) this[i] = bytes.length > 0 ? bytes[(i - start) % bytes.length] : 0;
    return this;
  }

  /** Shares its memory, as in Node; Uint8Array's own slice copies. */
  slice(start, end) {
    return this.subarray(start, end);
  }

  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }

  indexOf(value, from = 0, encoding = "utf8") {
    if (typeof value === "number") return super.indexOf(value, from);
    const needle = typeof value === "string" ? encode(value, encoding) : value;
    search: for (let i = Math.max(0, from < 0 ? this.length + from : from); i <= this.length - needle.length; i++) {
      for (let j = 0; j < needle.length; j++) if (this[i + j] !== needle[j]) continue search;
      return i;
    }
    return -1;
  }

  includes(value, from, encoding) {
    return this.indexOf(value, from, encoding) >= 0;
  }

  readUInt8(offset = 0) {
    if (offset < 0 || offset >= this.length) throw new RangeError("offset is outside of the buffer");
    return this[offset];
  }

  [custom]() {
    let text = "<Buffer";
    for (let i = 0; i < this.length && i < 50; i++) text += ` ${(this[i] < 16 ? "0" : "") + this[i].toString(16)}`;
    const more = this.length - 50;
    return `${text}${more > 0 ? ` ... ${more} more byte${more > 1 ? "s" : ""}` : ""}>`;
  }
}

/** Bytes that this module made, as a Buffer over the same memory. */
export function bufferOf(arrayBuffer) {
  return new Buffer(arrayBuffer);
}

const define = (target, name, value) =>
  Object.defineProperty(target, name, { value, writable: true, configurable: true });

/** Uint8Array.fromBase64 and relatives (ECMAScript 2026). */
export function installUint8ArrayHelpers() {
  define(Uint8Array, "fromBase64", (text, { alphabet = "base64" } = {}) => {
    const standard = alphabet === "base64url" ? text.replace(/-/g, "+").replace(/_/g, "/") : text;
    if (typeof text !== "string") throw new TypeError("expected a string");
    if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(standard)) throw new SyntaxError("the text is not base64");
    return encode(standard, "base64");
  });
  define(Uint8Array, "fromHex", (text) => {
    if (typeof text !== "string") throw new TypeError("expected a string");
    if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) throw new SyntaxError("the text is not hexadecimal");
    return encode(text, "hex");
  });
  define(Uint8Array.prototype, "toBase64", function toBase64({ alphabet = "base64", omitPadding = false } = {}) {
    const text = decode(bytesOf(this), alphabet === "base64url" ? "base64url" : "base64");
    if (alphabet === "base64url" && !omitPadding) return text + "=".repeat((4 - (text.length % 4)) % 4);
    return omitPadding ? text.replace(/=+$/, "") : text;
  });
  define(Uint8Array.prototype, "toHex", function toHex() {
    return decode(bytesOf(this), "hex");
  });
}

export { atob, btoa };
export default { Buffer, atob, btoa };
