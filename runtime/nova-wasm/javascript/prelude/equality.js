// Deep equality, as assert.deepStrictEqual and util.isDeepStrictEqual mean it.

import { isBoxedPrimitive, isDate, isError, isMap, isRegExp, isSet } from "nova:inspect";

function sameKeys(a, b, strict, seen) {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], strict, seen));
}

function sameEntries(a, b, strict, seen) {
  if (a.size !== b.size) return false;
  const rest = new Set(b.keys());
  for (const key of a.keys()) {
    let match = key;
    if (!rest.has(key)) {
      match = [...rest].find((other) => typeof other === "object" && equal(key, other, strict, seen));
      if (match === undefined) return false;
    }
    if (isMap(a) && !equal(a.get(key), b.get(match), strict, seen)) return false;
    rest.delete(match);
  }
  return true;
}

export function equal(a, b, strict, seen = new Map()) {
  if (strict ? Object.is(a, b) : a == b || (Number.isNaN(a) && Number.isNaN(b))) return true; // eslint-disable-line eqeqeq
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (seen.get(a) === b) return true; // a cycle on both sides
  seen.set(a, b);
  if (isDate(a) || isBoxedPrimitive(a)) return Object.is(a.valueOf(), b.valueOf?.()) && sameKeys(a, b, strict, seen);
  if (isRegExp(a)) return isRegExp(b) && `${a}` === `${b}`;
  if (isError(a) && (a.message !== b.message || a.name !== b.name)) return false;
  if (isMap(a) || isSet(a)) return isMap(a) === isMap(b) && isSet(a) === isSet(b) && sameEntries(a, b, strict, seen);
  return sameKeys(a, b, strict, seen);
}

export const isDeepStrictEqual = (a, b) => equal(a, b, true);
