// Values as text, in the form that Node's console and util.inspect give them.

import * as native from "nova:native";
import { withTrueColumns } from "nova:columns";
import {
  Array, ArrayJoin, BigIntToString, BigIntValueOf, BooleanValueOf, DateGetTime,
  DateToISOString, Error, FunctionToString, HasOwn, JSONStringify, Map, MapForEach,
  MapGet, MapHas, MapSet, MapSize, MathFloor, MathMax, MathMin, MathRound, MathSqrt, NumberIsNaN,
  NumberToString, NumberValueOf, ObjectAssign, ObjectIs, ObjectPrototype, PropertyIsEnumerable,
  ReflectApply, RegExpExec, RegExpToString, SetForEach, SetSize, String, StringCharCodeAt,
  StringEndsWith, StringIncludes, StringIndexOf, StringPadEnd, StringPadStart, StringRepeat,
  StringSlice, StringStartsWith, StringValueOf, Symbol, SymbolToString, SymbolValueOf,
  TypedArrayLength, Uint8Array, getOwnPropertyDescriptor, getPrototypeOf, isArray, ownKeys, push,
  replaceAll, split,
} from "nova:primordials";

export const custom = Symbol.for("nodejs.util.inspect.custom");
const { toStringTag } = Symbol;

// QuickJS's class numbers (quickjs.c, JS_CLASS_...), found out from a sample of each.
const { classOf } = native;
const CLASS = {
  __proto__: null,
  error: classOf(new Error("")),
  number: classOf(Object(0)),
  string: classOf(Object("")),
  boolean: classOf(Object(false)),
  symbol: classOf(Object(Symbol.iterator)),
  bigint: classOf(Object(0n)),
  arguments: classOf((function () { "use strict"; return arguments; })()),
  mappedArguments: classOf(new Function("a", "return arguments")(1)),
  date: classOf(new Date(0)),
  regexp: classOf(/x/),
  arrayBuffer: classOf(new ArrayBuffer(0)),
  map: classOf(new Map()),
  set: classOf(new Set()),
  weakMap: classOf(new WeakMap()),
  weakSet: classOf(new WeakSet()),
  promise: classOf(Promise.resolve()),
  proxy: classOf(new Proxy({}, {})),
  firstTypedArray: classOf(new Uint8ClampedArray()),
  lastTypedArray: classOf(new Float64Array()),
  dataView: classOf(new DataView(new ArrayBuffer(0))),
  asyncFunction: classOf(async () => {}),
  generatorFunction: classOf(function* () {}),
  asyncGeneratorFunction: classOf(async function* () {}),
  generator: classOf((function* () {})()),
  weakRef: classOf(new WeakRef({})),
  object: classOf({}),
};

export const isError = (value) => classOf(value) === CLASS.error;
export const isMap = (value) => classOf(value) === CLASS.map;
export const isSet = (value) => classOf(value) === CLASS.set;
export const isDate = (value) => classOf(value) === CLASS.date;
export const isRegExp = (value) => classOf(value) === CLASS.regexp;
export const isPromise = (value) => classOf(value) === CLASS.promise;
export const isProxy = (value) => classOf(value) === CLASS.proxy;
export const isArrayBuffer = (value) => classOf(value) === CLASS.arrayBuffer;
export const isDataView = (value) => classOf(value) === CLASS.dataView;
export const isBoxedPrimitive = (value) => {
  const kind = classOf(value);
  return kind === CLASS.number || kind === CLASS.string || kind === CLASS.boolean ||
    kind === CLASS.symbol || kind === CLASS.bigint;
};
export const isTypedArray = (value) => {
  const kind = classOf(value);
  return kind >= CLASS.firstTypedArray && kind <= CLASS.lastTypedArray;
};

const bufferByteLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;

const DEFAULTS = {
  __proto__: null,
  depth: 2,
  breakLength: 80,
  compact: 3,
  maxArrayLength: 100,
  maxStringLength: 10000,
  showHidden: false,
  sorted: false,
  getters: false,
  customInspect: true,
};

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const isIdentifier = (text) => RegExpExec(IDENTIFIER, text) !== null;

// ---- strings -------------------------------------------------------------------------------

function quote(text) {
  let mark = "'";
  if (StringIncludes(text, "'")) {
    if (!StringIncludes(text, '"')) mark = '"';
    else if (!StringIncludes(text, "`") && !StringIncludes(text, "${")) mark = "`";
  }
  let result = mark;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = StringCharCodeAt(text, i);
    let escape;
    if (code === 10) escape = "\\n";
    else if (code === 9) escape = "\\t";
    else if (code === 13) escape = "\\r";
    else if (code === 8) escape = "\\b";
    else if (code === 12) escape = "\\f";
    else if (code === 11) escape = "\\v";
    else if (code === 92) escape = "\\\\";
    else if (code < 32 || (code >= 127 && code < 160)) {
      escape = "\\x" + StringPadStart(NumberToString(code, 16), 2, "0").toUpperCase();
    } else if (code === StringCharCodeAt(mark, 0)) escape = "\\" + mark;
    else if (code >= 0xd800 && code <= 0xdfff) {
      const next = StringCharCodeAt(text, i + 1);
      if (code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
        i++;
        continue;
      }
      escape = "\\u" + NumberToString(code, 16).toUpperCase();
    } else continue;
    result += StringSlice(text, from, i) + escape;
    from = i + 1;
  }
  return result + StringSlice(text, from) + mark;
}

function formatString(context, text) {
  let rest = "";
  if (text.length > context.maxStringLength) {
    const more = text.length - context.maxStringLength;
    text = StringSlice(text, 0, context.maxStringLength);
    rest = "... " + more + " more character" + (more > 1 ? "s" : "");
  }
  const room = context.breakLength - context.indentation - 4;
  if (text.length > 16 && text.length > room && StringIncludes(text, "\n")) {
    const lines = split(text, "\n");
    const parts = [];
    for (let i = 0; i < lines.length; i++) {
      const last = i === lines.length - 1;
      if (!last || lines[i] !== "") push(parts, quote(last ? lines[i] : lines[i] + "\n"));
    }
    return ArrayJoin(parts, " +\n" + StringRepeat(" ", context.indentation + 2)) + rest;
  }
  return quote(text) + rest;
}

function formatNumber(value) {
  return ObjectIs(value, -0) ? "-0" : NumberToString(value);
}

function formatPrimitive(context, value) {
  switch (typeof value) {
    case "string": return formatString(context, value);
    case "number": return formatNumber(value);
    case "bigint": return BigIntToString(value) + "n";
    case "symbol": return SymbolToString(value);
    default: return "" + value;
  }
}

// ---- names and prefixes --------------------------------------------------------------------

/** The name of the nearest constructor on the prototype chain, without calling a getter. */
function constructorName(object) {
  let steps = 0;
  for (let owner = object; owner !== null && steps < 1000; owner = getPrototypeOf(owner), steps++) {
    if (isProxy(owner)) return "Object";
    const descriptor = getOwnPropertyDescriptor(owner, "constructor");
    if (descriptor === undefined || typeof descriptor.value !== "function") continue;
    const name = isProxy(descriptor.value)
      ? undefined
      : getOwnPropertyDescriptor(descriptor.value, "name")?.value;
    if (typeof name === "string" && name !== "") return name;
  }
  return null;
}

function tagOf(object, name) {
  let tag;
  try {
    tag = object[toStringTag];
  } catch {
    return "";
  }
  return typeof tag === "string" && tag !== "" && tag !== name ? tag : "";
}

function prefixOf(name, tag, fallback, size) {
  const shown = name === null ? ("[" + fallback + size + ": null prototype]") : name + size;
  return tag === "" ? (shown + " ") : shown + " [" + tag + "] ";
}

function formatFunction(value, name, tag) {
  const text = FunctionToString(value);
  const ownName = getOwnPropertyDescriptor(value, "name")?.value;
  const label = typeof ownName === "string" && ownName !== "" ? ownName : "";
  if (StringStartsWith(text, "class") && StringEndsWith(text, "}")) {
    const parent = getPrototypeOf(value);
    const parentName = parent && getOwnPropertyDescriptor(parent, "name")?.value;
    return "[class " + (label === "" ? "(anonymous)" : label) + (parentName ? (" extends " + parentName) : "") + "]";
  }
  const kind = classOf(value);
  let type = "Function";
  if (kind === CLASS.asyncFunction) type = "AsyncFunction";
  else if (kind === CLASS.generatorFunction) type = "GeneratorFunction";
  else if (kind === CLASS.asyncGeneratorFunction) type = "AsyncGeneratorFunction";
  let result = label === "" ? ("[" + type + " (anonymous)]") : "[" + type + ": " + label + "]";
  if (name === null) result = "[" + type + " (null prototype)" + (label === "" ? " (anonymous)" : (": " + label)) + "]";
  else if (name !== type && name !== "Function") result += " " + name;
  if (tag !== "" && tag !== type) result += " [" + tag + "]";
  return result;
}

// ---- errors --------------------------------------------------------------------------------

function ownText(object, key) {
  for (let owner = object; owner !== null; owner = getPrototypeOf(owner)) {
    if (isProxy(owner)) return undefined;
    const descriptor = getOwnPropertyDescriptor(owner, key);
    if (descriptor !== undefined) {
      return typeof descriptor.value === "string" ? descriptor.value : undefined;
    }
  }
  return undefined;
}

/** The frames of an error's stack, each with its line feed before it. */
export function framesOf(error) {
  let stack = ownText(error, "stack");
  if (stack === undefined) return "";
  stack = withTrueColumns(stack);
  if (StringStartsWith(stack, "    at ")) return "\n" + stack;
  const at = StringIndexOf(stack, "\n    at ");
  return at < 0 ? "" : StringSlice(stack, at);
}

/** "Name: message" as it is now; the stack has it as it was when the error was made. */
export function errorHeader(error) {
  const message = ownText(error, "message") ?? "";
  let name = ownText(error, "name") || "Error";
  if (!HasOwn(error, "name")) {
    const made = constructorName(error);
    if (made !== null && made !== name && (name === "Error" || StringEndsWith(made, name))) name = made;
  }
  const code = ownText(error, "code");
  const label = code !== undefined && StringStartsWith(code, "ERR_") ? (name + " [" + code + "]") : name;
  return message === "" ? label : label + ": " + message;
}

function formatError(error, keys) {
  const frames = framesOf(error);
  const header = errorHeader(error);
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i];
    const shown = key === "stack" || key === "message" || (key === "name" && StringIncludes(header, ownText(error, "name") ?? ""));
    if (shown) keys = without(keys, i);
  }
  if (HasOwn(error, "cause") && !PropertyIsEnumerable(error, "cause")) push(keys, "cause");
  if (HasOwn(error, "errors") && !PropertyIsEnumerable(error, "errors")) push(keys, "errors");
  return { base: frames === "" ? ("[" + header + "]") : header + frames, keys };
}

function without(list, index) {
  const rest = [];
  for (let i = 0; i < list.length; i++) if (i !== index) push(rest, list[i]);
  return rest;
}

// ---- objects -------------------------------------------------------------------------------

function isIndex(key, length) {
  if (typeof key !== "string" || key === "" || key.length > 10) return false;
  for (let i = 0; i < key.length; i++) {
    const code = StringCharCodeAt(key, i);
    if (code < 48 || code > 57) return false;
  }
  return +key < length;
}

/** Own keys that are shown; for arrays and the like only those that are no index. */
function shownKeys(context, object, length) {
  const all = ownKeys(object);
  const keys = [];
  for (let i = 0; i < all.length; i++) {
    const key = all[i];
    if (length >= 0 && isIndex(key, length)) continue;
    if (context.showHidden || PropertyIsEnumerable(object, key)) push(keys, key);
  }
  return keys;
}

function formatProperty(context, object, key, level, inArray) {
  let descriptor;
  try {
    descriptor = getOwnPropertyDescriptor(object, key);
  } catch {
    descriptor = { __proto__: null, value: undefined, enumerable: true }; // a module's binding before its time
  }
  descriptor ??= { __proto__: null, value: object[key], enumerable: true };
  let text;
  if (HasOwn(descriptor, "value")) {
    context.indentation += 2;
    text = formatValue(context, descriptor.value, level);
    context.indentation -= 2;
  } else if (descriptor.get !== undefined) {
    text = descriptor.set !== undefined ? "[Getter/Setter]" : "[Getter]";
  } else {
    text = descriptor.set !== undefined ? "[Setter]" : "undefined";
  }
  if (inArray) return text;
  let name;
  if (typeof key === "symbol") name = "[" + SymbolToString(key) + "]";
  else if (descriptor.enumerable === false) name = "[" + key + "]";
  else name = key === "__proto__" ? "['__proto__']" : isIdentifier(key) ? key : quote(key);
  return name + ": " + text;
}

function moreItems(count) {
  return "... " + count + " more item" + (count > 1 ? "s" : "");
}

function formatArray(context, array, length, level) {
  const output = [];
  const shown = MathMin(context.maxArrayLength, length);
  let index = 0;
  while (index < length && output.length < shown) {
    if (getOwnPropertyDescriptor(array, index) === undefined) {
      const start = index;
      // Holes are counted by the keys that exist: a length can be 4,294,967,295.
      index = nextIndex(array, index, length);
      const empty = index - start;
      push(output, "<" + empty + " empty item" + (empty > 1 ? "s" : "") + ">");
      continue;
    }
    push(output, formatProperty(context, array, "" + index, level, true));
    index++;
  }
  if (index < length) push(output, moreItems(length - index));
  return output;
}

function nextIndex(array, from, length) {
  if (length - from <= 1000) {
    while (from < length && getOwnPropertyDescriptor(array, from) === undefined) from++;
    return from;
  }
  const keys = ownKeys(array);
  let next = length;
  for (let i = 0; i < keys.length; i++) {
    if (!isIndex(keys[i], length)) continue;
    const index = +keys[i];
    if (index >= from && index < next) next = index;
  }
  return next;
}

function formatTypedArray(context, array, level) {
  const length = TypedArrayLength(array);
  const output = [];
  const shown = MathMin(context.maxArrayLength, length);
  for (let i = 0; i < shown; i++) push(output, formatPrimitive(context, array[i]));
  if (length > shown) push(output, moreItems(length - shown));
  return output;
}

function formatMap(context, map, level) {
  const output = [];
  const total = MapSize(map);
  context.indentation += 2;
  MapForEach(map, (value, key) => {
    if (output.length < context.maxArrayLength) {
      push(output, formatValue(context, key, level) + " => " + formatValue(context, value, level));
    }
  });
  context.indentation -= 2;
  if (total > output.length) push(output, moreItems(total - output.length));
  return output;
}

function formatSet(context, set, level) {
  const output = [];
  const total = SetSize(set);
  context.indentation += 2;
  SetForEach(set, (value) => {
    if (output.length < context.maxArrayLength) push(output, formatValue(context, value, level));
  });
  context.indentation -= 2;
  if (total > output.length) push(output, moreItems(total - output.length));
  return output;
}

function formatArrayBuffer(context, buffer) {
  const length = ReflectApply(bufferByteLength, buffer, []);
  const bytes = new Uint8Array(buffer);
  let text = "";
  const shown = MathMin(50, length);
  for (let i = 0; i < shown; i++) {
    text += (i > 0 ? " " : "") + StringPadStart(NumberToString(bytes[i], 16), 2, "0");
  }
  if (length > shown) text += " ... " + (length - shown) + " more byte" + (length - shown > 1 ? "s" : "");
  return [("[Uint8Contents]: <" + text + ">"), ("byteLength: " + length)];
}

function formatPromise(context, promise, level) {
  const state = native.promiseState(promise);
  if (state[0] === 0) return ["<pending>"];
  context.indentation += 2;
  const text = formatValue(context, state[1], level);
  context.indentation -= 2;
  return [state[0] === 2 ? ("<rejected> " + text) : text];
}

function formatBoxed(context, value, kind) {
  if (kind === CLASS.number) return "[Number: " + (formatNumber(NumberValueOf(value))) + "]";
  if (kind === CLASS.string) return "[String: " + (quote(StringValueOf(value))) + "]";
  if (kind === CLASS.boolean) return "[Boolean: " + BooleanValueOf(value) + "]";
  if (kind === CLASS.bigint) return "[BigInt: " + (BigIntToString(BigIntValueOf(value))) + "n]";
  return "[Symbol: " + (SymbolToString(SymbolValueOf(value))) + "]";
}

function formatValue(context, value, level) {
  if (value === null) return "null";
  if (typeof value !== "object" && typeof value !== "function") return formatPrimitive(context, value);
  if (isProxy(value)) {
    // What is behind the proxy, without calling its traps.
    const target = native.proxyTarget(value);
    return target === null || target === undefined ? "<Revoked Proxy>" : formatValue(context, target, level);
  }
  if (context.customInspect) {
    const format = value[custom];
    if (typeof format === "function" && format !== inspect) {
      const depth = context.depth === Infinity ? Infinity : context.depth - level;
      const options = ObjectAssign({}, context.options, { depth });
      const result = ReflectApply(format, value, [depth, options, inspect]);
      if (result !== value) {
        if (typeof result !== "object") return "" + String(result);
        return formatValue(context, result, level);
      }
    }
  }
  for (let i = 0; i < context.seen.length; i++) {
    if (context.seen[i] !== value) continue;
    context.circular ??= new Map();
    if (!MapHas(context.circular, value)) MapSet(context.circular, value, MapSize(context.circular) + 1);
    return "[Circular *" + MapGet(context.circular, value) + "]";
  }
  return formatObject(context, value, level);
}

function formatObject(context, value, level) {
  const kind = classOf(value);
  const name = constructorName(value);
  const tag = tagOf(value, name);
  let base = "";
  let open = "{";
  let close = "}";
  let isList = false;
  let keys;
  let entries = null; // () => the lines before the keys

  if (isArray(value)) {
    const { length } = value;
    keys = shownKeys(context, value, length);
    open = name !== "Array" || tag !== "" ? ((prefixOf(name, tag, "Array", ("(" + length + ")"))) + "[") : "[";
    close = "]";
    isList = true;
    if (length === 0 && keys.length === 0) return open + "]";
    entries = () => formatArray(context, value, length, level + 1);
  } else if (kind === CLASS.set || kind === CLASS.map) {
    keys = shownKeys(context, value, -1);
    const isMapping = kind === CLASS.map;
    const size = isMapping ? MapSize(value) : SetSize(value);
    open = (prefixOf(name, tag, isMapping ? "Map" : "Set", ("(" + size + ")"))) + "{";
    if (size === 0 && keys.length === 0) return open + "}";
    entries = () => (isMapping ? formatMap : formatSet)(context, value, level + 1);
  } else if (isTypedArray(value)) {
    const length = TypedArrayLength(value);
    keys = shownKeys(context, value, length);
    open = (prefixOf(name, tag === name ? "" : name === tagOf(value, null) ? "" : tag, "TypedArray", ("(" + length + ")"))) + "[";
    close = "]";
    isList = true;
    if (length === 0 && keys.length === 0) return open + "]";
    entries = () => formatTypedArray(context, value, level + 1);
  } else {
    keys = shownKeys(context, value, kind === CLASS.string ? StringValueOf(value).length : -1);
    if (typeof value === "function") {
      base = formatFunction(value, name, tag);
      if (keys.length === 0) return base;
    } else if (kind === CLASS.regexp) {
      base = RegExpToString(value);
      if (keys.length === 0 || level > context.depth) return base;
    } else if (kind === CLASS.date) {
      base = NumberIsNaN(DateGetTime(value)) ? "Invalid Date" : DateToISOString(value);
      if (name !== "Date") base = prefixOf(name, tag, "Date", "") + base;
      if (keys.length === 0) return base;
    } else if (kind === CLASS.error) {
      const formatted = formatError(value, keys);
      keys = formatted.keys;
      base = formatted.base;
      if (context.indentation > 0) {
        base = replaceAll(base, "\n", "\n" + StringRepeat(" ", context.indentation));
      }
      if (keys.length === 0) return base;
    } else if (isBoxedPrimitive(value)) {
      base = formatBoxed(context, value, kind);
      if (keys.length === 0) return base;
    } else if (kind === CLASS.arrayBuffer) {
      open = prefixOf(name, tag === "ArrayBuffer" ? "" : tag, "ArrayBuffer", "") + "{";
      entries = () => formatArrayBuffer(context, value);
    } else if (kind === CLASS.dataView) {
      open = prefixOf(name, "", "DataView", "") + "{";
      entries = () => {
        context.indentation += 2;
        const lines = [
          ("byteLength: " + value.byteLength),
          "byteOffset: " + value.byteOffset,
          "buffer: " + formatValue(context, value.buffer, level + 1),
        ];
        context.indentation -= 2;
        return lines;
      };
    } else if (kind === CLASS.promise) {
      open = prefixOf(name, tag === "Promise" ? "" : tag, "Promise", "") + "{";
      entries = () => formatPromise(context, value, level + 1);
    } else if (kind === CLASS.weakMap || kind === CLASS.weakSet) {
      open = prefixOf(name, "", kind === CLASS.weakMap ? "WeakMap" : "WeakSet", "") + "{";
      entries = () => ["<items unknown>"];
    } else if (kind === CLASS.weakRef) {
      open = prefixOf(name, "", "WeakRef", "") + "{";
      entries = () => {
        context.indentation += 2;
        const text = formatValue(context, value.deref(), level + 1);
        context.indentation -= 2;
        return [text];
      };
    } else if (kind === CLASS.arguments || kind === CLASS.mappedArguments) {
      open = "[Arguments] {";
      if (keys.length === 0) return "[Arguments] {}";
    } else if (tag === "Module" && name === null) {
      open = "[Module: null prototype] {";
    } else if (name !== "Object" || tag !== "") {
      open = prefixOf(name, tag, "Object", "") + "{";
      if (keys.length === 0) return open + "}";
    } else if (keys.length === 0) {
      return "{}";
    }
  }

  if (level > context.depth) {
    const label = isArray(value) ? "Array" : "" + (name ?? "[Object: null prototype]") + (tag === "" ? "" : (" [" + tag + "]"));
    return name === null && !isArray(value) ? label : "[" + label + "]";
  }

  push(context.seen, value);
  context.currentLevel = level;
  const output = entries === null ? [] : entries();
  if (context.sorted) sortKeys(keys);
  for (let i = 0; i < keys.length; i++) push(output, formatProperty(context, value, keys[i], level + 1, false));
  context.seen.length--;
  if (context.circular !== null && MapHas(context.circular, value)) {
    const reference = "<ref *" + MapGet(context.circular, value) + ">";
    if (base === "") open = reference + " " + open;
    else base = reference + " " + base;
  }
  return joinLines(context, output, base, open, close, isList, level, value);
}

function sortKeys(keys) {
  for (let i = 1; i < keys.length; i++) {
    for (let j = i; j > 0 && String(keys[j - 1]) > String(keys[j]); j--) {
      const moved = keys[j];
      keys[j] = keys[j - 1];
      keys[j - 1] = moved;
    }
  }
}

// ---- layout --------------------------------------------------------------------------------

function joinLines(context, output, base, open, close, isList, level, value) {
  const head = base === "" ? "" : base + " ";
  if (context.compact !== false) {
    const entries = output.length;
    if (isList && entries > 6) output = inColumns(context, output, value);
    if (context.currentLevel - level < context.compact && entries === output.length) {
      const start = output.length + context.indentation + open.length + base.length + 10;
      if (fitsOneLine(context, output, start, base)) {
        const joined = ArrayJoin(output, ", ");
        if (!StringIncludes(joined, "\n")) return head + open + " " + joined + " " + close;
      }
    }
  }
  const indent = "\n" + StringRepeat(" ", context.indentation);
  return head + open + indent + "  " + (ArrayJoin(output, ("," + indent + "  "))) + indent + close;
}

function fitsOneLine(context, output, start, base) {
  let total = output.length + start;
  if (total + output.length > context.breakLength) return false;
  for (let i = 0; i < output.length; i++) {
    total += output[i].length;
    if (total > context.breakLength) return false;
  }
  return base === "" || !StringIncludes(base, "\n");
}

/** Arrays of more than six short entries are shown in aligned columns. */
function inColumns(context, output, value) {
  const hasMore = context.maxArrayLength < output.length;
  const count = hasMore ? output.length - 1 : output.length;
  const widths = [];
  let total = 0;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const width = displayWidth(output[i]);
    push(widths, width);
    total += width + 2;
    longest = MathMax(longest, width);
  }
  const cell = longest + 2;
  if (cell * 3 + context.indentation >= context.breakLength || !(total / cell > 5 || longest <= 6)) return output;
  const bias = MathSqrt(cell - total / output.length);
  const biased = MathMax(cell - 3 - bias, 1);
  const columns = MathMin(
    MathRound(MathSqrt(2.5 * biased * count) / biased),
    MathFloor((context.breakLength - context.indentation) / cell),
    context.compact * 4,
    15,
  );
  if (columns <= 1) return output;
  const columnWidths = [];
  for (let i = 0; i < columns; i++) {
    let width = 0;
    for (let j = i; j < count; j += columns) width = MathMax(width, widths[j]);
    push(columnWidths, width + 2);
  }
  let numeric = true;
  for (let i = 0; i < output.length && numeric; i++) {
    const type = typeof value[i];
    numeric = type === "number" || type === "bigint";
  }
  const lines = [];
  for (let i = 0; i < count; i += columns) {
    const end = MathMin(i + columns, count);
    let line = "";
    let j = i;
    for (; j < end - 1; j++) {
      const padding = columnWidths[j - i] + output[j].length - widths[j];
      line += (numeric ? StringPadStart : StringPadEnd)(output[j] + ", ", padding, " ");
    }
    if (numeric) {
      line += StringPadStart(output[j], columnWidths[j - i] + output[j].length - widths[j] - 2, " ");
    } else {
      line += output[j];
    }
    push(lines, line);
  }
  if (hasMore) push(lines, output[count]);
  return lines;
}

/** Columns on a terminal: wide East Asian characters and emoji take two, combining marks none. */
export function displayWidth(text) {
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    const code = StringCharCodeAt(text, i);
    if (code < 0x300) width++;
    else if (code >= 0xd800 && code < 0xdc00) {
      i++;
      width += code >= 0xd83c ? 2 : 1;
    } else if (code < 0x370 || code === 0x200b || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) continue;
    else width += (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
      (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ? 2 : 1;
  }
  return width;
}

// ---- what others use -----------------------------------------------------------------------

/** inspect(value[, options]); the older form inspect(value, showHidden, depth) works too. */
export function inspect(value, options = undefined, depth = undefined) {
  const context = ObjectAssign({ __proto__: null }, DEFAULTS);
  if (typeof options === "object" && options !== null) ObjectAssign(context, options);
  else if (options !== undefined) context.showHidden = !!options;
  if (depth !== undefined) context.depth = depth;
  if (context.depth === null) context.depth = Infinity;
  if (context.maxArrayLength === null) context.maxArrayLength = Infinity;
  if (context.maxStringLength === null) context.maxStringLength = Infinity;
  if (context.compact === true) context.compact = 3;
  context.options = typeof options === "object" && options !== null ? options : {};
  context.indentation = 0;
  context.currentLevel = 0;
  context.seen = [];
  context.circular = null;
  return formatValue(context, value, 0);
}
/** An error without frames in plain words, and not in the brackets it has as part of a value. */
export function inspectUncaught(error) {
  const text = inspect(error);
  const header = errorHeader(error);
  return StringStartsWith(text, "[" + header + "]") ? header + StringSlice(text, header.length + 2) : text;
}
inspect.custom = custom;
inspect.defaultOptions = DEFAULTS;

function hasOwnToString(value) {
  for (let owner = value; owner !== null; owner = getPrototypeOf(owner)) {
    if (isProxy(owner)) return false;
    if (HasOwn(owner, "toString")) {
      const builtin = owner === ObjectPrototype || owner === Error.prototype || owner === Array.prototype;
      return !builtin || owner === Error.prototype;
    }
  }
  return false;
}

function formatAsString(value) {
  if (typeof value === "bigint") return BigIntToString(value) + "n";
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "object" && value !== null) {
    if (!isError(value) && hasOwnToString(value)) return String(value);
    return inspect(value, { depth: 0 });
  }
  return String(value);
}

function toNumberText(value, convert) {
  if (typeof value === "bigint") return BigIntToString(value) + "n";
  if (typeof value === "symbol" || typeof value === "object") return "NaN";
  return formatNumber(convert(value));
}

const { parseFloat, parseInt } = globalThis;

function formatDirective(directive, value) {
  switch (directive) {
    case "s": return formatAsString(value);
    case "d": return toNumberText(value, Number);
    case "i": return toNumberText(value, parseInt);
    case "f": return typeof value === "symbol" ? "NaN" : formatNumber(parseFloat(value));
    case "j":
      try {
        return "" + JSONStringify(value);
      } catch (error) {
        if (StringIncludes("" + (error?.message), "circular")) return "[Circular]";
        throw error;
      }
    case "o": return inspect(value, { showHidden: true, depth: 4 });
    case "O": return inspect(value);
    case "c": return "";
    default: return undefined;
  }
}
const Number = globalThis.Number;

/** What console.log prints for these arguments: printf-like directives, the rest inspected. */
export function format(args) {
  let text = "";
  let index = 0;
  if (args.length > 1 && typeof args[0] === "string") {
    const pattern = args[0];
    index = 1;
    let from = 0;
    for (let i = 0; i < pattern.length - 1; i++) {
      if (StringCharCodeAt(pattern, i) !== 37) continue;
      const directive = pattern[i + 1];
      let shown;
      if (directive === "%") shown = "%";
      else if (index < args.length) {
        shown = formatDirective(directive, args[index]);
        if (shown !== undefined) index++;
      }
      if (shown === undefined) continue;
      text += StringSlice(pattern, from, i) + shown;
      i++;
      from = i + 1;
    }
    text += StringSlice(pattern, from);
  }
  for (let first = index === 0; index < args.length; index++, first = false) {
    const value = args[index];
    if (!first) text += " ";
    text += typeof value === "string" ? value : inspect(value);
  }
  return text;
}
