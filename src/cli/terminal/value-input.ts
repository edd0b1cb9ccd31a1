import { createInterface } from "node:readline";
import { BadParameter } from "../../model/errors.ts";
import type { Terminal } from "./terminal.ts";

/** Asks for a value on a terminal. Undefined without a terminal, and when nothing was typed. */
export async function askValue({ input, err }: Terminal, what: string): Promise<string | undefined> {
  if (!input.isTTY) return undefined;
  err.write(`${what[0]?.toUpperCase()}${what.slice(1)}: `);
  const lines = createInterface({ input });
  try {
    for await (const line of lines) return line.trim() || undefined;
    err.write("\n");
    throw new BadParameter(what, "The input ended before this was answered. Nothing was changed.");
  } finally {
    lines.close();
  }
}
