import { readFileSync } from "node:fs";

/** As package.json has it. */
export const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};
