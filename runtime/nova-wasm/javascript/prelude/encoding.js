// TextEncoder, TextDecoder (Encoding Standard; UTF-8, UTF-16LE, Latin-1), atob and btoa.

import * as native from "nova:native";

/** A view of the bytes of an ArrayBuffer or of any view. */
export function bytesOf(source) {
  if (source instanceof Uint8Array) return source;
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source);
  throw new TypeError("expected an ArrayBuffer or a view of one");
}

export class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    return new Uint8Array(native.encodeUtf8(`${text}`));
  }

  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const character of `${text}`) {
      const bytes = new Uint8Array(native.encodeUtf8(character));
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

const LABELS = new Map([
  ...["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"].map((l) => [l, "utf-8"]),
  ...["utf-16le", "utf-16", "ucs-2", "unicode", "csunicode", "iso-10646-ucs-2", "unicodefeff"].map((l) => [l, "utf-16le"]),
  ...["latin1", "l1", "ascii", "us-ascii", "iso-8859-1", "iso8859-1", "iso88591", "windows-1252", "cp1252", "x-cp1252"]
    .map((l) => [l, "windows-1252"]),
]);

// Windows-1252 differs from Latin-1 in the bytes 0x80 to 0x9F.
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

function decodeUtf16(bytes, flags) {
  let text = "";
  for (let i = 0; i + 1 < bytes.length; i += 2) text += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
  if (flags.fatal && !text.isWellFormed()) return null;
  return flags.fatal ? text : text.toWellFormed();
}

export class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBom;
  #rest = new Uint8Array(0);
  #atStart = true;

  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    this.#encoding = LABELS.get(`${label}`.trim().toLowerCase());
    if (this.#encoding === undefined) {
      const error = new RangeError(`The "${label}" encoding is not supported`);
      error.code = "ERR_ENCODING_NOT_SUPPORTED";
      throw error;
    }
    this.#fatal = !!fatal;
    this.#ignoreBom = !!ignoreBOM;
  }

  get encoding() {
    return this.#encoding;
  }

  get fatal() {
    return this.#fatal;
  }

  get ignoreBOM() {
    return this.#ignoreBom;
  }

  decode(source = new Uint8Array(0), { stream = false } = {}) {
    let bytes = bytesOf(source);
    if (this.#rest.length > 0) {
      const joined = new Uint8Array(this.#rest.length + bytes.length);
      joined.set(this.#rest);
      joined.set(bytes, this.#rest.length);
      bytes = joined;
      this.#rest = new Uint8Array(0);
    }
    if (stream) {
      const open = this.#encoding === "utf-8" ? native.incompleteUtf8(bytes)
        : this.#encoding === "utf-16le" ? bytes.length % 2 : 0;
      this.#rest = bytes.slice(bytes.length - open);
      bytes = bytes.subarray(0, bytes.length - open);
    }
    let text;
    if (this.#encoding === "utf-8") text = native.decodeUtf8(bytes, this.#fatal);
    else if (this.#encoding === "utf-16le") text = decodeUtf16(bytes, { fatal: this.#fatal });
    else text = native.decodeLatin1(bytes).replace(/[\x80-\x9f]/g, (c) => WINDOWS_1252[c.charCodeAt(0) - 0x80]);
    if (text === null) {
      this.#rest = new Uint8Array(0);
      this.#atStart = true;
      const error = new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`);
      error.code = "ERR_ENCODING_INVALID_ENCODED_DATA";
      throw error;
    }
    if (this.#atStart && !this.#ignoreBom && text.startsWith("\ufeff")) text = text.slice(1);
    this.#atStart = !stream || (this.#atStart && text === "");
    return text;
  }
}

function invalidCharacter(message) {
  return new DOMException(message, "InvalidCharacterError");
}

export class DOMException extends Error {
  #name;

  constructor(message = "", name = "Error") {
    super(message);
    this.#name = typeof name === "string" ? name : `${name?.name ?? "Error"}`;
  }

  get name() {
    return this.#name;
  }

  get code() {
    return { InvalidCharacterError: 5, AbortError: 20, DataCloneError: 25, TimeoutError: 23, QuotaExceededError: 22 }[this.#name] ?? 0;
  }
}

export function btoa(text) {
  const string = `${text}`;
  const bytes = new Uint8Array(string.length);
  for (let i = 0; i < string.length; i++) {
    const code = string.charCodeAt(i);
    if (code > 255) throw invalidCharacter("btoa: a character is outside of Latin-1");
    bytes[i] = code;
  }
  return native.encodeBase64(bytes);
}

export function atob(text) {
  let string = `${text}`.replace(/[\t\n\f\r ]/g, "");
  if (string.length % 4 === 0) string = string.replace(/={1,2}$/, "");
  if (string.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(string)) {
    throw invalidCharacter("atob: the text is not correctly encoded");
  }
  return native.decodeLatin1(new Uint8Array(native.decodeBase64(string)));
}
