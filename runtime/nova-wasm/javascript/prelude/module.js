// node:module

import { createRequire } from "nova:modules";

export { createRequire };
export default { createRequire };
