import { whyMissing } from "./debian-package.ts";
import { ensurePrometheusProgram } from "./prometheus-package.ts";

export function ensurePromtool(): string {
  return ensurePrometheusProgram("promtool");
}

/** Why the tests can't have promtool here; undefined when they can. */
export function missingPromtool(): string | undefined {
  return whyMissing(ensurePromtool);
}
