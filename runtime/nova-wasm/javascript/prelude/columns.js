// True columns in the first line of scripts.

import { StringCharCodeAt, StringIndexOf, StringSlice, push } from "nova:primordials";

// Scripts, by the names that QuickJS has for them. Their first line is compiled behind the head
// of a function, so that columns there are too large by its length (see nova_js.c).
const names = [];
const HEAD_LENGTH = "(function (exports, require, module, __filename, __dirname) {".length;

export function noteScript(name) {
  push(names, name);
}

/** A stack with the columns that the user's own file has. */
export function withTrueColumns(stack) {
  for (let i = 0; i < names.length; i++) {
    const place = names[i] + ":1:";
    for (let at = StringIndexOf(stack, place); at >= 0; at = StringIndexOf(stack, place, at + 1)) {
      const start = at + place.length;
      let end = start;
      while (StringCharCodeAt(stack, end) >= 48 && StringCharCodeAt(stack, end) <= 57) end++;
      const column = +StringSlice(stack, start, end);
      if (column > HEAD_LENGTH) stack = StringSlice(stack, 0, start) + (column - HEAD_LENGTH) + StringSlice(stack, end);
    }
  }
  return stack;
}
