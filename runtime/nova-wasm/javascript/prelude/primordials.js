// The intrinsics as they were before a program could change them.
//
// What must work whatever a program does to its prototypes (printing, timers, reporting an
// error, exiting) uses these, loops by index, and neither spreads nor destructures arrays: all of
// those ask Array.prototype. Nor does it use template literals: QuickJS compiles them into calls
// of String.prototype.concat.

const { bind, call } = Function.prototype;

/** Turns a method into a function whose first argument is `this`. */
export const uncurryThis = bind.bind(call);

export const {
  apply: ReflectApply,
  construct: ReflectConstruct,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  ownKeys,
} = Reflect;
export const { isArray } = Array;
export const {
  assign: ObjectAssign,
  create: ObjectCreate,
  defineProperty,
  freeze: ObjectFreeze,
  is: ObjectIs,
  keys: ObjectKeys,
  prototype: ObjectPrototype,
} = Object;
export const { parse: JSONParse, stringify: JSONStringify } = JSON;
export const { floor: MathFloor, max: MathMax, min: MathMin, round: MathRound, sqrt: MathSqrt } = Math;
export const { isFinite: NumberIsFinite, isInteger: NumberIsInteger, isNaN: NumberIsNaN } = Number;
export const { now: DateNow } = Date;

// Constructors whose global names a program may overwrite.
const PlainArray = Array;
const PlainError = Error;
const PlainMap = Map;
const PlainPromise = Promise;
const PlainRangeError = RangeError;
const PlainSet = Set;
const PlainString = String;
const PlainSymbol = Symbol;
const PlainTypeError = TypeError;
const PlainUint8Array = Uint8Array;
const PlainArrayBuffer = ArrayBuffer;
export {
  PlainArray as Array,
  PlainArrayBuffer as ArrayBuffer,
  PlainError as Error,
  PlainMap as Map,
  PlainPromise as Promise,
  PlainRangeError as RangeError,
  PlainSet as Set,
  PlainString as String,
  PlainSymbol as Symbol,
  PlainTypeError as TypeError,
  PlainUint8Array as Uint8Array,
};

export const ArrayJoin = uncurryThis(Array.prototype.join);
export const ArrayShift = uncurryThis(Array.prototype.shift);
export const ArraySlice = uncurryThis(Array.prototype.slice);
export const ArraySort = uncurryThis(Array.prototype.sort);
export const BigIntToString = uncurryThis(BigInt.prototype.toString);
export const BooleanValueOf = uncurryThis(Boolean.prototype.valueOf);
export const BigIntValueOf = uncurryThis(BigInt.prototype.valueOf);
export const DateGetTime = uncurryThis(Date.prototype.getTime);
export const DateToISOString = uncurryThis(Date.prototype.toISOString);
export const ErrorToString = uncurryThis(Error.prototype.toString);
export const FunctionToString = uncurryThis(Function.prototype.toString);
export const MapForEach = uncurryThis(Map.prototype.forEach);
export const MapGet = uncurryThis(Map.prototype.get);
export const MapHas = uncurryThis(Map.prototype.has);
export const MapSet = uncurryThis(Map.prototype.set);
export const MapDelete = uncurryThis(Map.prototype.delete);
export const MapSize = uncurryThis(getOwnPropertyDescriptor(Map.prototype, "size").get);
export const NumberToString = uncurryThis(Number.prototype.toString);
export const NumberValueOf = uncurryThis(Number.prototype.valueOf);
export const HasOwn = uncurryThis(Object.prototype.hasOwnProperty);
export const PropertyIsEnumerable = uncurryThis(Object.prototype.propertyIsEnumerable);
export const PromiseThen = uncurryThis(Promise.prototype.then);
export const RegExpExec = uncurryThis(RegExp.prototype.exec);
export const RegExpToString = uncurryThis(RegExp.prototype.toString);
export const SetForEach = uncurryThis(Set.prototype.forEach);
export const SetAdd = uncurryThis(Set.prototype.add);
export const SetHas = uncurryThis(Set.prototype.has);
export const SetDelete = uncurryThis(Set.prototype.delete);
export const SetSize = uncurryThis(getOwnPropertyDescriptor(Set.prototype, "size").get);
export const StringCharCodeAt = uncurryThis(String.prototype.charCodeAt);
export const StringEndsWith = uncurryThis(String.prototype.endsWith);
export const StringIncludes = uncurryThis(String.prototype.includes);
export const StringIndexOf = uncurryThis(String.prototype.indexOf);
export const StringLastIndexOf = uncurryThis(String.prototype.lastIndexOf);
export const StringPadEnd = uncurryThis(String.prototype.padEnd);
export const StringPadStart = uncurryThis(String.prototype.padStart);
export const StringRepeat = uncurryThis(String.prototype.repeat);
export const StringSlice = uncurryThis(String.prototype.slice);
export const StringStartsWith = uncurryThis(String.prototype.startsWith);
export const StringValueOf = uncurryThis(String.prototype.valueOf);
export const SymbolToString = uncurryThis(Symbol.prototype.toString);
export const SymbolValueOf = uncurryThis(Symbol.prototype.valueOf);
export const TypedArrayLength = uncurryThis(
  getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), "length").get,
);

/** Appends without asking the prototypes: an index setter there would be called by `list[i] = x`. */
export function push(list, value) {
  defineProperty(list, list.length, {
    __proto__: null,
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Replaces every occurrence, without regular expressions. */
export function replaceAll(text, search, replacement) {
  let result = "";
  let from = 0;
  for (;;) {
    const at = StringIndexOf(text, search, from);
    if (at < 0) return result + StringSlice(text, from);
    result += StringSlice(text, from, at) + replacement;
    from = at + search.length;
  }
}

/** Splits into an array, without regular expressions. */
export function split(text, separator) {
  const parts = [];
  let from = 0;
  for (;;) {
    const at = StringIndexOf(text, separator, from);
    if (at < 0) {
      push(parts, StringSlice(text, from));
      return parts;
    }
    push(parts, StringSlice(text, from, at));
    from = at + separator.length;
  }
}
