// The modules that import and require know by name, with or without "node:".

import assert from "node:assert";
import buffer from "node:buffer";
import consoleModule from "node:console";
import crypto from "node:crypto";
import events from "node:events";
import fs from "node:fs";
import fsPromises from "node:fs/promises";
import module from "node:module";
import os from "node:os";
import path from "node:path";
import performanceHooks from "node:perf_hooks";
import process from "node:process";
import readline from "node:readline";
import readlinePromises from "node:readline/promises";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import url from "node:url";
import util from "node:util";

export const builtins = {
  __proto__: null,
  assert,
  buffer,
  console: consoleModule,
  crypto,
  events,
  fs,
  "fs/promises": fsPromises,
  module,
  os,
  path,
  perf_hooks: performanceHooks,
  process,
  readline,
  "readline/promises": readlinePromises,
  timers,
  "timers/promises": timersPromises,
  url,
  util,
};

/** Other names of the same modules. */
export const aliases = { __proto__: null, "assert/strict": "assert", "path/posix": "path", sys: "util" };
