import { join } from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup } from "rollup";
import * as vite from "vite";
import webpack from "webpack";

/** What a bundler made: where its file is, and what it complained about. */
export interface Bundle {
  readonly file: string;
  readonly complaints: readonly string[];
}

/**
 * Each bundler turns `app.js` of the project into `bundle.js` of the folder, for browsers. It gets the entry, the
 * target, and nothing about the SDK. Rollup finds packages by its own plugin, as everybody has it.
 */
export const bundlers: Readonly<Record<string, (project: string, folder: string) => Promise<Bundle>>> = {
  async esbuild(project, folder) {
    const file = join(folder, "bundle.js");
    const entryPoints = [join(project, "app.js")];
    const { warnings } = await esbuild.build({ entryPoints, bundle: true, outfile: file, logLevel: "silent" });
    return { file, complaints: warnings.map(({ text }) => text) };
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
      compiler.run((error, made) => (error ? reject(error) : resolve(made))),
    );
    await new Promise<void>((resolve) => compiler.close(() => resolve()));
    const { errors = [], warnings = [] } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {};
    return { file: join(folder, "bundle.js"), complaints: [...errors, ...warnings].map(({ message }) => message) };
  },

  async vite(project, folder) {
    const complaints: string[] = [];
    const warn = (message: string) => void complaints.push(message);
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
    return { file: join(folder, "bundle.js"), complaints };
  },

  async rollup(project, folder) {
    const complaints: string[] = [];
    const file = join(folder, "bundle.js");
    const made = await rollup({
      input: join(project, "app.js"),
      plugins: [nodeResolve()],
      onwarn: ({ message }) => void complaints.push(message),
    });
    await made.write({ file, format: "es" });
    await made.close();
    return { file, complaints };
  },
};
