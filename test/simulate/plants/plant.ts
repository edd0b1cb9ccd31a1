/**
 * A mistake that the simulation must find. It replaces functions and classes that modules export, so that it breaks
 * neither when a line is reworded nor, because the compiler and editors see the names, when something is renamed.
 */
export interface Plant {
  readonly name: string;
  readonly mistake: string;
  readonly replacements: readonly Replacement[];
}

export interface Replacement {
  readonly module: () => Promise<unknown>;
  /** By the name of an export: makes the worse one from the real one. */
  readonly exports: Readonly<Record<string, (original: never) => unknown>>;
}

/**
 * Plants import only types of the product: a module that is loaded before the plant is in place would stay as it is.
 * What they need beside the original they import when they run.
 */
export function replace<Module>(
  module: () => Promise<Module>,
  exports: { readonly [Name in keyof Module]?: (original: Module[Name]) => Module[Name] },
): Replacement {
  return { module, exports: exports as Replacement["exports"] };
}

export function plant(name: string, mistake: string, ...replacements: readonly Replacement[]): Plant {
  return { name, mistake, replacements };
}
