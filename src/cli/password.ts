import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { BadParameter } from "../model/errors.ts";

/** A password is never a flag: it comes from BREEZEWAY_PASSWORD, from a pipe, or is asked for without being shown. */
export async function readPassword(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const password = environment.BREEZEWAY_PASSWORD || (process.stdin.isTTY ? await askTwice() : await firstLine());
  if (!password) throw new BadParameter("password", "The password is missing. Pipe it in, or set BREEZEWAY_PASSWORD.");
  return password;
}

async function firstLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return "";
}

/** Nobody sees what they type: a slip of the finger would lock the user out. */
async function askTwice(): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  // One for both questions, made before the first: between two, the terminal would show what is typed.
  const terminal = createInterface({ input: process.stdin, output: unseen, terminal: true });
  const lines = terminal[Symbol.asyncIterator]();
  /** Empty when whoever is asked leaves instead. */
  const ask = async (question: string): Promise<string> => {
    process.stderr.write(question);
    const { value, done } = await lines.next();
    process.stderr.write("\n");
    return done ? "" : value;
  };
  try {
    const password = await ask("Password: ");
    if (password !== "" && password !== (await ask("Once more: "))) {
      throw new BadParameter("password", "The two passwords differ.");
    }
    return password;
  } finally {
    terminal.close();
  }
}
