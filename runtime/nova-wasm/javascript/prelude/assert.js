// node:assert

import { equal as deepEquality } from "nova:equality";
import { inspect } from "nova:inspect";

export class AssertionError extends Error {
  constructor({ message, actual, expected, operator }) {
    super(message);
    this.name = "AssertionError";
    this.code = "ERR_ASSERTION";
    this.generatedMessage = false;
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }
}

function fail(message, fallback, actual, expected, operator) {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message: message ?? fallback, actual, expected, operator });
}

function check(holds, actual, expected, message, operator, words) {
  if (!holds) fail(message, `${words}:\n\n${inspect(actual)} !== ${inspect(expected)}\n`, actual, expected, operator);
}

export function assert(value, message) {
  if (!value) fail(message, `The expression evaluated to a falsy value: ${inspect(value)}`, value, true, "==");
}

const methods = {
  ok: assert,
  equal: (a, b, message) => check(a == b || (a !== a && b !== b), a, b, message, "==", "Expected values to be loosely equal"),
  notEqual: (a, b, message) => check(a != b, a, b, message, "!=", "Expected values not to be loosely equal"),
  strictEqual: (a, b, message) => check(Object.is(a, b), a, b, message, "strictEqual", "Expected values to be strictly equal"),
  notStrictEqual: (a, b, message) => check(!Object.is(a, b), a, b, message, "notStrictEqual", "Expected values not to be strictly equal"),
  deepEqual: (a, b, message) => check(deepEquality(a, b, false), a, b, message, "deepEqual", "Expected values to be loosely deep-equal"),
  deepStrictEqual: (a, b, message) => check(deepEquality(a, b, true), a, b, message, "deepStrictEqual", "Expected values to be strictly deep-equal"),
  notDeepEqual: (a, b, message) => check(!deepEquality(a, b, false), a, b, message, "notDeepEqual", "Expected values not to be loosely deep-equal"),
  notDeepStrictEqual: (a, b, message) => check(!deepEquality(a, b, true), a, b, message, "notDeepStrictEqual", "Expected values not to be strictly deep-equal"),
  match: (text, pattern, message) => check(pattern.test(text), text, pattern, message, "match", "The input did not match the regular expression"),
  doesNotMatch: (text, pattern, message) => check(!pattern.test(text), text, pattern, message, "doesNotMatch", "The input was expected not to match the regular expression"),
  fail: (message) => fail(message, "Failed", undefined, undefined, "fail"),
  ifError(value) {
    if (value !== null && value !== undefined) throw value;
  },
  throws(run, expected, message) {
    let thrown;
    try {
      run();
    } catch (error) {
      thrown = { error };
    }
    if (thrown === undefined) fail(typeof expected === "string" ? expected : message, "Missing expected exception.", undefined, expected, "throws");
    verify(thrown.error, expected, message);
  },
  doesNotThrow(run, message) {
    try {
      run();
    } catch (error) {
      fail(message, `Got unwanted exception.\nActual message: "${error?.message}"`, error, undefined, "doesNotThrow");
    }
  },
  async rejects(promise, expected, message) {
    let thrown;
    try {
      await (typeof promise === "function" ? promise() : promise);
    } catch (error) {
      thrown = { error };
    }
    if (thrown === undefined) fail(typeof expected === "string" ? expected : message, "Missing expected rejection.", undefined, expected, "rejects");
    verify(thrown.error, expected, message);
  },
  async doesNotReject(promise, message) {
    try {
      await (typeof promise === "function" ? promise() : promise);
    } catch (error) {
      fail(message, `Got unwanted rejection.\nActual message: "${error?.message}"`, error, undefined, "doesNotReject");
    }
  },
};

/** Whether a thrown error is the one that was expected. */
function verify(error, expected, message) {
  if (expected === undefined || typeof expected === "string") return;
  if (expected instanceof RegExp) {
    check(expected.test(`${error}`), `${error}`, expected, message, "throws", "The error did not match the regular expression");
  } else if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Error.isPrototypeOf(expected)) throw error;
    if (expected(error) !== true) fail(message, "The validation function did not return true.", error, expected, "throws");
  } else {
    for (const key of Object.keys(expected)) {
      const holds = expected[key] instanceof RegExp && typeof error[key] === "string"
        ? expected[key].test(error[key]) : deepEquality(error[key], expected[key], true);
      check(holds, error[key], expected[key], message, "throws", `The error's ${key} is not the expected one`);
    }
  }
}

Object.assign(assert, methods, { AssertionError, strict: assert });
export const {
  ok, equal, notEqual, strictEqual, notStrictEqual, deepEqual, deepStrictEqual, notDeepEqual, notDeepStrictEqual,
  match, doesNotMatch, throws, doesNotThrow, rejects, doesNotReject, ifError, strict,
} = assert;
export default assert;
