// process.stdin: all of standard input is there when the program starts, so it is read whole when
// first asked for. Chunks are strings.

import * as native from "nova:native";
import { systemError } from "nova:fs_errors";
import { ReadStream } from "nova:streams";

function readAll() {
  const bytes = native.readFile(0);
  if (typeof bytes === "number") throw systemError(bytes, "read");
  return native.decodeUtf8(bytes, false);
}

export const stdin = new ReadStream(readAll);
stdin.fd = 0;
stdin.isTTY = false;
