import { readFileSync, statSync } from "node:fs";
import { BadParameter } from "../model/errors.ts";

/** Refuses a file that is far too large before it is read. The service checks the exact, lower limit. */
const largestFileBytes = 1024 * 1024;

/**
 * The content of a file that was named on the command line. The command reads and sends it, because the service may run as
 * another user, in another folder. `option` is the name of the option; only error messages use it.
 */
export function readFileBytes(option: string, file: string): Buffer {
  const refuse = (reason: string) => new BadParameter(option, `--${option}: ${reason}`);
  let bytes: Buffer;
  try {
    if (statSync(file).size > largestFileBytes) throw refuse("the file is too large.");
    bytes = readFileSync(file);
  } catch (error) {
    throw error instanceof BadParameter ? error : refuse(reasonOf(error));
  }
  if (bytes.length === 0) throw refuse("the file is empty.");
  return bytes;
}

export function readFileText(option: string, file: string): string {
  const bytes = readFileBytes(option, file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new BadParameter(option, `--${option}: the file is not text in UTF-8.`);
  }
}

function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return "there is no such file.";
    case "EISDIR":
      return "that is a folder, not a file.";
    case "EACCES":
      return "you may not read that file.";
    default:
      return `the file can't be read (${(error as Error).message}).`;
  }
}
