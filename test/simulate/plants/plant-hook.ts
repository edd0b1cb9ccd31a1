import { registerHooks } from "node:module";
import type { Replacement } from "./plant.ts";

/**
 * Loaded before everything else, into the main thread and each worker: puts the plant that SIMULATION_PLANT names into
 * place. A module of which something is replaced is loaded as a module of the same exports, made from the real one.
 */
const replaced = new Map<string, Replacement["exports"]>();
let isAsking = false;

/** Says where an import would have led. */
class Resolved extends Error {
  readonly url: string;

  constructor(url: string) {
    super(url);
    this.url = url;
  }
}

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    if (isAsking) throw new Resolved(found.url);
    return found;
  },
  load(url, context, next) {
    const exports = replaced.get(url);
    if (!exports) return next(url, context);
    const [original, names] = [JSON.stringify(`${url}?original`), Object.keys(exports).join(", ")];
    const source = `import * as original from ${original};
      export * from ${original};
      const { ${names} } = plantedExports(${JSON.stringify(url)}, original);
      export { ${names} };`;
    return { format: "module", source, shortCircuit: true };
  },
});

Object.assign(globalThis, {
  plantedExports(url: string, original: Readonly<Record<string, never>>): object {
    const made = Object.entries(replaced.get(url)!).map(([name, make]) => [name, make(original[name]!)]);
    return Object.fromEntries(made);
  },
});

const { plants } = await import("./plants.ts");
const plant = plants.find(({ name }) => name === process.env.SIMULATION_PLANT);
for (const { module, exports } of plant?.replacements ?? []) {
  const url = await urlOf(module);
  replaced.set(url, { ...replaced.get(url), ...exports });
}

/** Asks for the address of a module without loading it: loaded now, it would stay without its plant. */
async function urlOf(module: Replacement["module"]): Promise<string> {
  isAsking = true;
  try {
    await module();
  } catch (error) {
    if (error instanceof Resolved) return error.url;
    throw error;
  } finally {
    isAsking = false;
  }
  throw new Error("The module of a plant was loaded before its plant.");
}
