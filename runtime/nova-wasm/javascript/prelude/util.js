// node:util, the parts that programs use.

import * as inspection from "nova:inspect";
import { TextDecoder, TextEncoder } from "nova:encoding";
import { isDeepStrictEqual } from "nova:equality";

export const { inspect } = inspection;
export const format = (...args) => inspection.format(args);
export const formatWithOptions = (options, ...args) => inspection.format(args);

export function promisify(original) {
  if (typeof original !== "function") throw new TypeError('The "original" argument must be of type function.');
  if (original[promisify.custom] !== undefined) return original[promisify.custom];
  return function promisified(...args) {
    return new Promise((resolve, reject) => {
      original.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
    });
  };
}
promisify.custom = Symbol.for("nodejs.util.promisify.custom");

export function callbackify(original) {
  return (...args) => {
    const callback = args.pop();
    original(...args).then((value) => callback(null, value), (error) => callback(error));
  };
}

export function inherits(constructor, parent) {
  constructor.super_ = parent;
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

export function deprecate(original) {
  return original;
}

export const types = {
  isMap: inspection.isMap,
  isSet: inspection.isSet,
  isDate: inspection.isDate,
  isRegExp: inspection.isRegExp,
  isPromise: inspection.isPromise,
  isProxy: inspection.isProxy,
  isNativeError: inspection.isError,
  isTypedArray: inspection.isTypedArray,
  isArrayBuffer: inspection.isArrayBuffer,
  isBoxedPrimitive: inspection.isBoxedPrimitive,
  isUint8Array: (value) => value instanceof Uint8Array,
};

export { isDeepStrictEqual, TextDecoder, TextEncoder };
export default {
  inspect, format, formatWithOptions, promisify, callbackify, inherits, deprecate, types, isDeepStrictEqual,
  TextDecoder, TextEncoder, isArray: Array.isArray,
};
