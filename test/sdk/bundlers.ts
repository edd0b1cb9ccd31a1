import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { type Plugin, rollup } from "rollup";
import * as vite from "vite";
import webpack from "webpack";

/** The result of a bundler: the path of its file, and its warnings. */
export interface Bundle {
  readonly file: string;
  readonly warnings: readonly string[];
}

/**
 * Each bundler turns `app.js` of the project into `bundle.js` of the folder, for browsers. It gets the entry and the
 * target, and no options for the SDK. Rollup needs its usual plugin to find packages.
 */
export const bundlers: Readonly<Record<string, (project: string, folder: string) => Promise<Bundle>>> = {
  async esbuild(project, folder) {
    const file = join(folder, "bundle.js");
    const entryPoints = [join(project, "app.js")];
    const { warnings } = await esbuild.build({ entryPoints, bundle: true, outfile: file, logLevel: "silent" });
    return { file, warnings: warnings.map(({ text }) => text) };
  },

  async webpack(project, folder) {
    const compiler = webpack({
      mode: "production",
      context: project,
      entry: "./app.js",
      output: { path: folder, filename: "bundle.js" },
    });
    if (!compiler) throw new Error("webpack made no compiler.");
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
      compiler.run((error, result) => (error ? reject(error) : resolve(result))),
    );
    await new Promise<void>((resolve) => compiler.close(() => resolve()));
    const { errors = [], warnings = [] } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {};
    return { file: join(folder, "bundle.js"), warnings: [...errors, ...warnings].map(({ message }) => message) };
  },

  async vite(project, folder) {
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    await vite.build({
      root: project,
      configFile: false,
      logLevel: "silent",
      customLogger: { ...vite.createLogger("silent"), warn, warnOnce: warn, error: warn },
      build: {
        outDir: folder,
        emptyOutDir: false,
        rolldownOptions: { input: join(project, "app.js"), output: { entryFileNames: "bundle.js" } },
      },
    });
    return { file: join(folder, "bundle.js"), warnings };
  },

  rollup: (project, folder) => byRollup(join(project, "app.js"), folder, [nodeResolve()]),

  /**
   * Without a plugin rollup finds files, but no packages, so the app imports the SDK's file. Rollup then warns that it leaves
   * out node:crypto, which browsers do not need.
   */
  async "rollup-by-path"(project, folder) {
    const input = join(project, "app-by-path.js");
    const app = readFileSync(join(project, "app.js"), "utf8");
    writeFileSync(input, app.replace("@breezeway/sdk", "./node_modules/@breezeway/sdk/dist/index.js"));
    const { file, warnings } = await byRollup(input, folder, []);
    return { file, warnings: warnings.filter((warning) => !warning.startsWith('"node:crypto" is imported by')) };
  },
};

async function byRollup(input: string, folder: string, plugins: readonly Plugin[]): Promise<Bundle> {
  const warnings: string[] = [];
  const file = join(folder, "bundle.js");
  const onwarn = ({ message }: { readonly message: string }) => void warnings.push(message);
  const result = await rollup({ input, plugins: [...plugins], onwarn });
  await result.write({ file, format: "es" });
  await result.close();
  return { file, warnings };
}
