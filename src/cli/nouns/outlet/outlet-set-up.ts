import type { SetUpEntry } from "../../../assistants/assistant.ts";
import { rows } from "../../terminal/output.ts";

/** What to enter in the maker's console, by its pages. */
export function setUpInWords(setUp: readonly SetUpEntry[], width?: number): string {
  const pages = [...Map.groupBy(setUp, ({ page }) => page)];
  return pages
    .map(
      ([page, entries]) =>
        `${page}\n${rows(
          entries.map(({ field, value }) => [`  ${field}`, value]),
          width,
        )}`,
    )
    .join("\n");
}
