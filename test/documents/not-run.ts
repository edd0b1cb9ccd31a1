import type { Block } from "./blocks.ts";

/** A block that no test runs, found by its first line, and why. */
export interface NotRun {
  readonly document: string;
  readonly firstLine: string;
  readonly because: string;
}

export const notRun: readonly NotRun[] = [
  {
    document: "README.md",
    firstLine: "npm start",
    because: "it runs until it is stopped: the demo that all other blocks talk to was started as it does",
  },
  { document: "README.md", firstLine: "npm test", because: "these very tests are what it runs" },
  {
    document: "README.md",
    firstLine: "bin/breezeway serve",
    because: "it runs until it is stopped: the stories start it, each in a process of its own",
  },
];

export function reasonFor({ document, text }: Block): NotRun | undefined {
  const firstLine = text.split("\n")[0];
  return notRun.find((one) => one.document === document && one.firstLine === firstLine);
}
