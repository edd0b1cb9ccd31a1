import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { ConfigurationError } from "../../config/config.ts";
import { BadParameter } from "../../model/errors.ts";
import type { Terminal } from "./terminal.ts";

export interface SecretRequest {
  /** Its name, as in "access token". */
  readonly what: string;
  /** The variable that may hold it; `<variable>_FILE` may name a file with it. */
  readonly variable: string;
  /** A new secret is asked for twice, because the user cannot see a typing error. */
  readonly isNew?: boolean;
  /** False: only the variable is read. */
  readonly prompts?: boolean;
}

/** A password is never a flag: it comes from BREEZEWAY_PASSWORD, from a pipe, or from a prompt without echo. */
export async function readPassword(terminal: Terminal, { isNew = true } = {}): Promise<string> {
  return requiredSecret(terminal, { what: "password", variable: "BREEZEWAY_PASSWORD", isNew });
}

export async function requiredSecret(terminal: Terminal, wanted: SecretRequest): Promise<string> {
  const secret = await readSecret(terminal, wanted);
  if (secret) return secret;
  const { what, variable } = wanted;
  throw new BadParameter(what, `The ${what} is missing. Pipe it in, or set ${variable}.`);
}

/** Undefined when there is none. */
export async function readSecret(terminal: Terminal, wanted: SecretRequest): Promise<string | undefined> {
  const { environment, input } = terminal;
  const { variable, prompts = true } = wanted;
  const file = environment[`${variable}_FILE`];
  const direct = environment[variable] || (file ? contentOf(variable, file) : undefined);
  if (direct || !prompts) return direct || undefined;
  return (await (input.isTTY ? ask(terminal, wanted) : firstLine(input))) || undefined;
}

function contentOf(variable: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigurationError([`${variable}_FILE names a file that can't be read (${(error as Error).message})`]);
  }
}

async function firstLine(input: NodeJS.ReadStream): Promise<string> {
  for await (const line of createInterface({ input })) return line;
  return "";
}

async function ask({ input, err }: Terminal, { what, isNew = false }: SecretRequest): Promise<string> {
  const withoutEcho = new Writable({ write: (_chunk, _encoding, done) => done() });
  // One interface for both prompts, created before the first: without it the terminal would echo what is typed in between.
  const terminal = createInterface({ input, output: withoutEcho, terminal: true });
  const lines = terminal[Symbol.asyncIterator]();
  /** Empty when the user ends the input instead. */
  const question = async (words: string): Promise<string> => {
    err.write(words);
    const { value, done } = await lines.next();
    err.write("\n");
    return done ? "" : value;
  };
  try {
    const secret = await question(`${what[0]?.toUpperCase()}${what.slice(1)}: `);
    if (isNew && secret !== "" && secret !== (await question(`Repeat the ${what}: `))) {
      throw new BadParameter(what, `The two ${what}s differ.`);
    }
    return secret;
  } finally {
    terminal.close();
  }
}
