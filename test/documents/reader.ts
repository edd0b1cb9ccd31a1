import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text as wholeText } from "node:stream/consumers";
import type { Block } from "./blocks.ts";

/** The real addresses of this run, by the address in the documents. */
export type Addresses = Readonly<Record<string, string>>;

/**
 * Runs the blocks of a document one after another, in a clone of the repository with a running demo. Exported variables
 * and the working folder of a bash block are kept for later blocks of the same document. The command is on the path only
 * if the document puts it there.
 */
export class Reader {
  readonly #folder: string;
  readonly #addresses: Addresses;
  readonly #exported: string;
  readonly #folderFile: string;

  constructor(folder: string, addresses: Addresses, name: string) {
    this.#folder = folder;
    this.#addresses = addresses;
    mkdirSync(join(folder, ".documents"), { recursive: true });
    const kept = join(folder, ".documents", name.replaceAll("/", "-"));
    this.#exported = `${kept}.exported`;
    this.#folderFile = `${kept}.place`;
  }

  async follow(block: Block, signal: AbortSignal): Promise<void> {
    const text = Object.entries(this.#addresses).reduce(
      (all, [written, real]) => all.replaceAll(written, real),
      block.text,
    );
    switch (block.language) {
      case "bash":
        return this.#bash(text, signal);
      case "json":
        return void JSON.parse(text);
      case "http":
        return this.#http(text, signal);
      case "ts":
        return this.#typescript(text, `${block.document.replaceAll("/", "-")}-${block.line}.ts`, signal);
    }
  }

  async #bash(text: string, signal: AbortSignal): Promise<void> {
    const before = existsSync(this.#exported) ? `source ${quoted(this.#exported)}\n` : "";
    const script = `${before}${text}\nexport -p > ${quoted(this.#exported)}\npwd > ${quoted(this.#folderFile)}`;
    await this.#run("bash", ["-euo", "pipefail", "-c", script], signal);
  }

  /** A raw HTTP request; if the block continues with an answer, its status is expected. */
  async #http(text: string, signal: AbortSignal): Promise<void> {
    const [requestText = "", answerText] = this.#filledIn(text).split(/\n(?=HTTP\/1\.1 )/);
    const [head = "", ...rest] = requestText.split("\n\n");
    const [line = "", ...headerLines] = head.trim().split("\n");
    const [method = "", target = ""] = line.split(" ");
    const headers = Object.fromEntries(headerLines.map((one) => one.split(/:\s*/, 2) as [string, string]));
    const body = rest.join("\n\n").trim();
    const url = new URL(target, `http://${headers.Host ?? new URL(Object.values(this.#addresses)[0]!).host}`);
    const sent = request(url, { method, headers, signal });
    sent.end(body);
    const [answer] = await once(sent, "response");
    const expected = answerText ? Number(answerText.split(" ")[1]) : undefined;
    const isFine = expected === undefined ? answer.statusCode < 300 : answer.statusCode === expected;
    const responseBody = isFine ? "" : await wholeText(answer);
    answer.destroy();
    assert.ok(isFine, `${line} was answered with ${answer.statusCode}: ${responseBody}`);
  }

  async #typescript(text: string, name: string, signal: AbortSignal): Promise<void> {
    const file = join(this.#folder, ".documents", name);
    writeFileSync(file, text);
    const packages = join(this.#folder, "node_modules");
    const strict = ["--strict", "--target", "es2024", "--module", "nodenext", "--types", "node", "--skipLibCheck"];
    const roots = ["--typeRoots", join(packages, "@types"), "--allowImportingTsExtensions"];
    await this.#run(
      process.execPath,
      [join(packages, "typescript/bin/tsc"), "--noEmit", ...strict, ...roots, file],
      signal,
    );
    await this.#run(process.execPath, [file], signal, this.#environment());
  }

  async #run(command: string, args: readonly string[], signal: AbortSignal, environment = process.env): Promise<void> {
    const child = spawn(command, args, {
      cwd: existsSync(this.#folderFile) ? readFileSync(this.#folderFile, "utf8").trimEnd() : this.#folder,
      env: {
        ...withoutOurs(environment),
        NO_COLOR: "1",
        // Packages come from npm's cache only.
        npm_config_offline: "true",
      },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    const [out, err] = [child.stdout, child.stderr].map((stream) => Array.fromAsync(stream));
    const [code] = await once(child, "close");
    const output = () =>
      Promise.all([out, err]).then((all) => Buffer.concat(all.flatMap((chunks) => chunks!)).toString());
    if (code !== 0) assert.fail(`it ended with ${code}:\n${await output()}`);
  }

  #environment(): NodeJS.ProcessEnv {
    const exported = existsSync(this.#exported) ? readFileSync(this.#exported, "utf8") : "";
    const found = exported.matchAll(/^declare -x (\w+)="((?:[^"\\]|\\.)*)"$/gms);
    return { ...process.env, ...Object.fromEntries([...found].map(([, name, value]) => [name, unescaped(value!)])) };
  }

  #filledIn(text: string): string {
    const environment = this.#environment();
    return text.replace(/\$(\w+)/g, (all, name: string) => environment[name] ?? all);
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}

function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^NODE_TEST_|^NODE_OPTIONS$/.test(name)));
}
