import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export interface PublishedAttribute {
  readonly name: string;
  readonly otherSpelling: string | undefined;
  readonly isWritable: boolean;
  readonly type: string;
  readonly values: string;
}

/** All attributes as the two tables publish them, spelled as the interface's own examples do, in the order of their numbers. */
export function publishedAttributes(): readonly PublishedAttribute[] {
  const rows = readFileSync(new URL("./interface-attributes.md", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => /^\| [od]\./.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map((cells) =>
      cells[1]!.startsWith("o.")
        ? { name: cells[1]!, access: "read-only", type: cells[2]!, values: cells[3]! }
        : { name: cells[1]!, access: cells[2]!, type: cells[3]!, values: cells[4]! },
    );
  const perAccount = rows.filter(({ name }) => !name.includes("[X]"));
  const perStructure = rows.filter(({ name }) => name.includes("[X]") && !name.includes("[Y]"));
  const perThermostat = rows.filter(({ name }) => name.includes("thermostat[Y]"));
  const perAlarm = rows.filter(({ name }) => name.includes("smokeCoAlarms[Y]"));
  assert.equal(perAccount.length + perStructure.length + perThermostat.length + perAlarm.length, rows.length);

  const indexed = [1, 2].flatMap((x) =>
    [
      ...perStructure,
      ...Array.from({ length: 20 }, (_, y) => perThermostat.map((row) => withY(row, y + 1))).flat(),
      ...Array.from({ length: 18 }, (_, y) => perAlarm.map((row) => withY(row, y + 1))).flat(),
    ].map((row) => ({ ...row, name: row.name.replace("[X]", `[${x}]`) })),
  );
  return [...perAccount, ...indexed].map(({ name, access, type, values }) => {
    const spelled = name.replace(".d.thermostat[", ".d.thermostats[");
    const other = spelled
      .replace(".d.thermostats[", ".d.thermostat[")
      .replace(".d.smokeCoAlarms[", ".d.smokeCOAlarms[")
      .replace(".totals.smokeCOAlarms", ".totals.smokeCoAlarms");
    const otherSpelling = other === spelled ? undefined : other;
    return { name: spelled, otherSpelling, isWritable: access === "writable", type, values };
  });
}

function withY<Row extends { readonly name: string }>(row: Row, y: number): Row {
  return { ...row, name: row.name.replace("[Y]", `[${y}]`) };
}
