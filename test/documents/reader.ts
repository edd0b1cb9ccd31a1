import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text as wholeText } from "node:stream/consumers";
import type { Block } from "./blocks.ts";

/** Where the addresses that documents write down are found in this run. */
export type Addresses = Readonly<Record<string, string>>;

/**
 * Somebody who reads a document and does what it says, block after block: in a clone of the repository, beside a
 * running demo. What a block of bash exports, and the folder it ends in, later blocks of the same document have. The
 * command is on the path only if the document puts it there.
 */
export class Reader {
  readonly #folder: string;
  readonly #addresses: Addresses;
  readonly #exported: string;
  readonly #place: string;

  constructor(folder: string, addresses: Addresses, name: string) {
    this.#folder = folder;
    this.#addresses = addresses;
    mkdirSync(join(folder, ".documents"), { recursive: true });
    const kept = join(folder, ".documents", name.replaceAll("/", "-"));
    this.#exported = `${kept}.exported`;
    this.#place = `${kept}.place`;
  }

  async follow(block: Block, signal: AbortSignal): Promise<void> {
    const text = Object.entries(this.#addresses).reduce((all, [told, real]) => all.replaceAll(told, real), block.text);
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
    const script = `${before}${text}\nexport -p > ${quoted(this.#exported)}\npwd > ${quoted(this.#place)}`;
    await this.#run("bash", ["-euo", "pipefail", "-c", script], signal);
  }

  /** A request as it goes over the wire; when the block goes on with an answer, its status is what is expected. */
  async #http(text: string, signal: AbortSignal): Promise<void> {
    const [asked = "", told] = this.#filledIn(text).split(/\n(?=HTTP\/1\.1 )/);
    const [head = "", ...rest] = asked.split("\n\n");
    const [line = "", ...headerLines] = head.trim().split("\n");
    const [method = "", target = ""] = line.split(" ");
    const headers = Object.fromEntries(headerLines.map((one) => one.split(/:\s*/, 2) as [string, string]));
    const body = rest.join("\n\n").trim();
    const url = new URL(target, `http://${headers.Host ?? new URL(Object.values(this.#addresses)[0]!).host}`);
    const sent = request(url, { method, headers, signal });
    sent.end(body);
    const [answer] = await once(sent, "response");
    const expected = told ? Number(told.split(" ")[1]) : undefined;
    const isFine = expected === undefined ? answer.statusCode < 300 : answer.statusCode === expected;
    const said = isFine ? "" : await wholeText(answer);
    answer.destroy();
    assert.ok(isFine, `${line} was answered with ${answer.statusCode}: ${said}`);
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
      cwd: existsSync(this.#place) ? readFileSync(this.#place, "utf8").trimEnd() : this.#folder,
      env: {
        ...withoutOurs(environment),
        NO_COLOR: "1",
        // Nothing that a document installs comes from elsewhere.
        npm_config_offline: "true",
      },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    const [out, err] = [child.stdout, child.stderr].map((stream) => Array.fromAsync(stream));
    const [code] = await once(child, "close");
    const said = () =>
      Promise.all([out, err]).then((all) => Buffer.concat(all.flatMap((chunks) => chunks!)).toString());
    if (code !== 0) assert.fail(`it ended with ${code}:\n${await said()}`);
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
