import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { refusals } from "../../http/answer/refusal.ts";
import type { Route } from "../../http/routes.ts";
import { describeScript } from "./console-descriptions.ts";

/** The scripts of the console, without their types, and an address that changes with them. */
export interface BrowserScripts {
  /** The path of the script that a page loads. */
  readonly entry: string;
  readonly files: ReadonlyMap<string, string>;
  readonly digest: string;
}

const folder = new URL("./browser/", import.meta.url);

let kept: BrowserScripts | undefined;

/** They are read once: the files of a version do not change. */
export function browserScripts(): BrowserScripts {
  kept ??= readScripts();
  return kept;
}

function readScripts(): BrowserScripts {
  const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const files = new Map(names.map((name) => [name, stripTypeScriptTypes(readFileSync(new URL(name, folder), "utf8"))]));
  const digest = createHash("sha256")
    .update(JSON.stringify([...files]))
    .digest("base64url")
    .slice(0, 16);
  return { entry: `/console/scripts/${digest}/console.ts`, files, digest };
}

/** A script never changes at its address, so browsers keep it. They import further scripts from the same folder. */
export function scriptRoute({ files, digest }: BrowserScripts): Route {
  const headers = {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  };
  return {
    access: "public",
    errors: "standard",
    methods: ["GET"],
    path: "/console/scripts/:digest/:name",
    description: describeScript,
    async answer({ pathParameters: { digest: wanted, name = "" } }) {
      const body = wanted === digest ? files.get(name) : undefined;
      if (body === undefined) throw refusals.unknownPath();
      return { status: 200, headers, body };
    },
  };
}
