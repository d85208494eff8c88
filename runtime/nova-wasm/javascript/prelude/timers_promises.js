// node:timers/promises

import { setImmediate as soon, setInterval as repeatedly, clearInterval, setTimeout as later } from "node:timers";

export const setTimeout = (delay, value) => new Promise((resolve) => later(resolve, delay, value));
export const setImmediate = (value) => new Promise((resolve) => soon(resolve, value));

export async function* setInterval(delay, value) {
  let due = 0;
  let wake;
  const timer = repeatedly(() => {
    due++;
    wake?.();
  }, delay);
  try {
    for (;;) {
      while (due === 0) await new Promise((resolve) => { wake = resolve; });
      due--;
      yield value;
    }
  } finally {
    clearInterval(timer);
  }
}

export const scheduler = { wait: (delay) => setTimeout(delay), yield: () => setImmediate() };
export default { setTimeout, setImmediate, setInterval, scheduler };
