import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, it } from "node:test";

const root = new URL("../..", import.meta.url).pathname;
const sources = globSync(["{src,sdk/src,verify,simulator,demo,bench,biome}/**/*.{ts,js}"], { cwd: root });

describe("the files of the product", () => {
  it("import each other in no circle, not even for types", () => {
    const imports = new Map(sources.map((file) => [file, importsOf(file, readFileSync(join(root, file), "utf8"))]));
    assert.deepEqual(circlesIn(imports), []);
  });

  it("are seen to import each other in a circle where they do", () => {
    const imports = new Map([
      ["a/one.ts", importsOf("a/one.ts", `import { two } from "./two.ts";`)],
      ["a/two.ts", importsOf("a/two.ts", `const three = await import("../three.ts");`)],
      [
        "three.ts",
        importsOf("three.ts", `import {\n  type One,\n} from "./a/one.ts";\nexport type { Two } from "./four.ts";`),
      ],
      ["four.ts", []],
    ]);
    assert.deepEqual(circlesIn(imports), [["a/one.ts", "a/two.ts", "three.ts"]]);
  });
});

function importsOf(file: string, text: string): readonly string[] {
  const statements = text.matchAll(/(?:^(?:import|export)\b[^;"]*?\bfrom |^import |\bimport\()"(\.[^"]+)"/gm);
  return [...statements].map(([, path]) => normalize(join(dirname(file), path!)));
}

/** Groups of files each of which reaches all others of its group (Tarjan's algorithm). */
function circlesIn(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    open.push(file);
    for (const imported of imports.get(file) ?? []) {
      if (!imports.has(imported)) continue;
      if (!order.has(imported)) visit(imported);
      if (open.includes(imported)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(imported)!));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const group = open.splice(open.indexOf(file));
    if (group.length > 1) circles.push(group.sort());
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return circles;
}
