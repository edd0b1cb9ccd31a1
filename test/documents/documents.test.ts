import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAll } from "../set-up/extent.ts";
import { startChild } from "../stories/child-service.ts";
import { blocksOf, documents, readBlocks } from "./blocks.ts";
import { notRun, reasonFor } from "./not-run.ts";
import { Reader } from "./reader.ts";
import { clonedFolder } from "./scratch.ts";

/** `npm test` follows these, `npm run test:all` every document. */
const dailyDocuments = ["README.md", "docs/security.md", "docs/tokens.md"];

describe("every block of the documents", () => {
  it("works as it is written, in a clone, beside the demo", { timeout: 300_000 }, async (t) => {
    const folder = clonedFolder(t);
    const demo = await startChild("demo", { BREEZEWAY_PORT: "0" }, { cwd: folder });
    t.after(() => demo.process.kill("SIGKILL"));
    const addresses = {
      "http://127.0.0.1:8080": demo.baseUrl,
      "http://127.0.0.1:8090": simulatorOf(demo.output),
    };
    for (const document of documents().filter((one) => isAll || dailyDocuments.includes(one))) {
      const reader = new Reader(folder, addresses, document);
      // Later blocks depend on a failed one: skip them.
      let isFine = true;
      for (const block of blocksOf(document).filter((one) => !reasonFor(one))) {
        const name = `${document}:${block.line} (${block.language})`;
        if (isFine) await t.test(name, { timeout: 60_000 }, (one) => reader.follow(block, one.signal).catch(fail));
        function fail(error: unknown): never {
          isFine = false;
          throw error;
        }
      }
    }
  });

  it("that is not run is listed with its reason, and exists", () => {
    const all = documents().flatMap(blocksOf);
    for (const one of notRun) {
      const found = all.filter((block) => reasonFor(block) === one).length;
      assert.ok(one.firstLine === undefined ? found > 0 : found === 1, `${one.document}: ${one.firstLine} (${found})`);
    }
  });
});

describe("reading a document", () => {
  it("finds only fenced blocks, with their line, also inside a list", () => {
    const text =
      "# A\n```bash\necho 1\n```\n- then\n  ```json\n  {}\n  ```\n```\nplain\n```\n````http\n```ts\n```\n````\n";
    assert.deepEqual(
      readBlocks("a.md", text).map(({ line, language, text: body }) => [line, language, body]),
      [
        [2, "bash", "echo 1\n"],
        [6, "json", "{}\n"],
        [12, "http", "```ts\n```\n"],
      ],
    );
    assert.throws(() => readBlocks("a.md", "```bash\necho"), /never closed/);
  });
});

function simulatorOf(banner: string): string {
  return /^\s*Simulator\s+(http\S+)/m.exec(banner)![1]!;
}
