// The web's crypto: random values only. Hashes and ciphers are not part of this runtime.

import * as native from "nova:native";
import { Buffer } from "node:buffer";
import { isTypedArray } from "nova:inspect";
import { DOMException } from "nova:encoding";

export function getRandomValues(array) {
  if (!isTypedArray(array) || array instanceof Float32Array || array instanceof Float64Array) {
    throw new DOMException("crypto.getRandomValues needs a typed array of integers", "TypeMismatchError");
  }
  if (array.byteLength > 65536) {
    throw new DOMException(`crypto.getRandomValues gives at most 65536 bytes, not ${array.byteLength}`, "QuotaExceededError");
  }
  native.fillRandom(array);
  return array;
}

/** A version 4 UUID (RFC 9562, section 5.4). */
export function randomUUID() {
  const bytes = new Uint8Array(16);
  native.fillRandom(bytes);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  let text = "";
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += "-";
    text += (bytes[i] < 16 ? "0" : "") + bytes[i].toString(16);
  }
  return text;
}

export function randomBytes(size) {
  const buffer = Buffer.alloc(size);
  native.fillRandom(buffer);
  return buffer;
}

/** An unbiased integer, min <= n < max. */
export function randomInt(min, max) {
  if (max === undefined) [min, max] = [0, min];
  const range = max - min;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || range <= 0 || range >= 2 ** 48) {
    throw new RangeError("randomInt needs integers min < max, less than 2**48 apart");
  }
  const limit = 2 ** 48 - (2 ** 48 % range);
  const bytes = new Uint8Array(6);
  for (;;) {
    native.fillRandom(bytes);
    let value = 0;
    for (const byte of bytes) value = value * 256 + byte;
    if (value < limit) return min + (value % range);
  }
}

function absent(name) {
  return () => {
    throw new Error(`crypto.${name} is not available in the WASM runtime: it has random values only`);
  };
}

export const createHash = absent("createHash");
export const createHmac = absent("createHmac");
export const webcrypto = { getRandomValues, randomUUID };
export default { getRandomValues, randomUUID, randomBytes, randomInt, createHash, createHmac, webcrypto };
