// The console: log, info, debug, table, dir, group and time go to standard output; error, warn,
// trace and assert to standard error, as in Node.

import * as native from "nova:native";
import {
  Error, HasOwn, Map, MapDelete, MapForEach, MapGet, MapHas, MapSet, ObjectAssign, ObjectKeys, ReflectApply, SetForEach,
  StringRepeat, StringSlice, push, replaceAll,
} from "nova:primordials";
import { displayWidth, format, framesOf, inspect, isMap, isSet } from "nova:inspect";

const OUT = 1;
const ERR = 2;
const { write, now } = native;
let indent = "";
const counts = new Map();
const timers = new Map();

function print(fd, text) {
  if (indent !== "") text = indent + replaceAll(text, "\n", "\n" + indent);
  write(fd, text + "\n");
}

function line(args) {
  return args.length === 1 && typeof args[0] === "string" ? args[0] : format(args);
}

function elapsed(label) {
  if (!MapHas(timers, label)) {
    print(ERR, "Warning: No such label '" + label + "' for console.time()");
    return undefined;
  }
  const ms = now() - MapGet(timers, label);
  if (ms >= 1000) return ((ms / 1000).toFixed(3)) + "s";
  return ms.toPrecision(ms >= 100 ? 6 : 4) + "ms";
}

// ---- table ---------------------------------------------------------------------------------

function renderTable(head, rows) {
  const widths = [];
  for (let c = 0; c < head.length; c++) {
    let width = displayWidth(head[c]);
    for (let r = 0; r < rows.length; r++) {
      const cell = displayWidth(rows[r][c]);
      if (cell > width) width = cell;
    }
    push(widths, width + 2);
  }
  const rule = (left, middle, right) => {
    let text = left;
    for (let c = 0; c < widths.length; c++) text += (c > 0 ? middle : "") + StringRepeat("─", widths[c]);
    return text + right;
  };
  const row = (cells) => {
    let text = "│";
    for (let c = 0; c < cells.length; c++) {
      text += " " + cells[c] + (StringRepeat(" ", widths[c] - displayWidth(cells[c]) - 1)) + "│";
    }
    return text;
  };
  let text = rule("┌", "┬", "┐") + "\n" + row(head) + "\n" + rule("├", "┼", "┤") + "\n";
  for (let r = 0; r < rows.length; r++) text += row(rows[r]) + "\n";
  return text + rule("└", "┴", "┘");
}

const cellText = (value) => inspect(value, { depth: typeof value === "object" && value !== null ? 0 : 2, breakLength: Infinity });

function tableOf(data, properties) {
  const keys = [];
  const values = [];
  let indexName = "(index)";
  if (isMap(data) || isSet(data)) {
    indexName = "(iteration index)";
    if (isMap(data)) {
      const rows = [];
      MapForEach(data, (value, key) => push(rows, [("" + rows.length), cellText(key), cellText(value)]));
      return renderTable([indexName, "Key", "Values"], rows);
    }
    SetForEach(data, (value) => {
      push(keys, "" + keys.length);
      push(values, value);
    });
  } else {
    const names = ObjectKeys(data);
    for (let i = 0; i < names.length; i++) {
      push(keys, names[i]);
      push(values, data[names[i]]);
    }
  }
  const columns = [];
  let hasPlain = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || (typeof value !== "object" && typeof value !== "function")) {
      hasPlain = true;
      continue;
    }
    const names = properties ?? ObjectKeys(value);
    for (let j = 0; j < names.length; j++) {
      let known = false;
      for (let k = 0; k < columns.length; k++) known ||= columns[k] === names[j];
      if (!known) push(columns, names[j]);
    }
  }
  const head = [indexName];
  for (let c = 0; c < columns.length; c++) push(head, "" + columns[c]);
  if (hasPlain) push(head, "Values");
  const rows = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const row = [keys[i]];
    const isObject = value !== null && (typeof value === "object" || typeof value === "function");
    for (let c = 0; c < columns.length; c++) {
      push(row, isObject && HasOwn(value, columns[c]) ? cellText(value[columns[c]]) : "");
    }
    if (hasPlain) push(row, isObject ? "" : cellText(value));
    push(rows, row);
  }
  return renderTable(head, rows);
}

// ---- the object ----------------------------------------------------------------------------

export const console = {
  log(...args) { print(OUT, line(args)); },
  info(...args) { print(OUT, line(args)); },
  debug(...args) { print(OUT, line(args)); },
  error(...args) { print(ERR, line(args)); },
  warn(...args) { print(ERR, line(args)); },
  trace(...args) {
    const text = line(args);
    print(ERR, "Trace" + (text === "" ? "" : (": " + text)) + (framesOf(new Error(""))));
  },
  assert(condition, ...args) {
    if (condition) return;
    if (typeof args[0] === "string") args[0] = "Assertion failed: " + args[0];
    else args = ["Assertion failed", ...args];
    print(ERR, line(args));
  },
  dir(value, options) { print(OUT, inspect(value, ObjectAssign({ customInspect: false }, options))); },
  dirxml(...args) { print(OUT, line(args)); },
  table(data, properties) {
    print(OUT, typeof data === "object" && data !== null ? tableOf(data, properties) : line([data]));
  },
  group(...args) {
    if (args.length > 0) print(OUT, line(args));
    indent += "  ";
  },
  groupCollapsed(...args) { ReflectApply(console.group, console, args); },
  groupEnd() { indent = StringSlice(indent, 2); },
  count(label = "default") {
    const count = (MapGet(counts, "" + label) ?? 0) + 1;
    MapSet(counts, "" + label, count);
    print(OUT, label + ": " + count);
  },
  countReset(label = "default") { MapDelete(counts, "" + label); },
  time(label = "default") { MapSet(timers, "" + label, now()); },
  timeEnd(label = "default") {
    const text = elapsed("" + label);
    if (text === undefined) return;
    MapDelete(timers, "" + label);
    print(OUT, label + ": " + text);
  },
  timeLog(label = "default", ...args) {
    const text = elapsed("" + label);
    if (text !== undefined) print(OUT, label + ": " + text + (args.length > 0 ? (" " + line(args)) : ""));
  },
  timeStamp() {},
  profile() {},
  profileEnd() {},
};

export default console;
