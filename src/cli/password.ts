import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { BadParameter } from "../model/errors.ts";

/** A password is never a flag: it comes from BREEZEWAY_PASSWORD, from a pipe, or is asked for without being shown. */
export async function readPassword(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const password = environment.BREEZEWAY_PASSWORD || (process.stdin.isTTY ? await ask() : await firstLine());
  if (!password) throw new BadParameter("password", "The password is missing. Pipe it in, or set BREEZEWAY_PASSWORD.");
  return password;
}

async function firstLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return "";
}

function ask(): Promise<string> {
  process.stderr.write("Password: ");
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: unseen, terminal: true });
  return new Promise((resolve) => {
    terminal.question("", (answer) => {
      process.stderr.write("\n");
      terminal.close();
      resolve(answer);
    });
  });
}
