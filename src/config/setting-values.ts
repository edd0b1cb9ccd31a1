import { readFileSync } from "node:fs";
import { InvalidSetting } from "../model/setting-checks.ts";

export function wholeNumber(text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) throw new InvalidSetting(`must be a number from ${least} to ${most}`);
  return number;
}

export function list(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function fileText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new InvalidSetting(`names a file that can't be read (${(error as Error).message})`);
  }
}
