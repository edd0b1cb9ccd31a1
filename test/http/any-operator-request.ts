import fc from "fast-check";
import { type AdminCall, adminPath, memberName } from "../../src/operators/admin-call.ts";
import { consolePages } from "../../src/outlets/console/pages.ts";
import type { HeaderLines, WireRequest } from "../isolation/wire.ts";
import { anyCharacter } from "../set-up/any-character.ts";

/** Random requests of an operator: to calls, pages and forms, with any mixture of right and wrong parts. */
export function anyOperatorRequest(
  calls: readonly AdminCall[],
  { bearer, cookie }: { readonly bearer: string; readonly cookie: string },
): fc.Arbitrary<WireRequest> {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.constantFrom("", "0", "1", "-1", "01", "1.5", "1e3", "2147483648", "18446744073709551616", "NaN", "true"),
    fc.constantFrom("__proto__", "constructor", "Acme", "eve", "ada", "Lamp", "nest", "power", "4xx", "1h", "yes"),
    fc.constantFrom("2026-01-01T00:00:00Z", "0000-00-00", "99999999999h", "bwc_none", "wh_none", "1.nest", "{}", "[]"),
  );
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(text, { maxLength: 3 }),
    fc.object({ maxDepth: 2 }),
  );
  const filled = (path: string) =>
    fc.array(text, { minLength: 3, maxLength: 3 }).map((values) => {
      const left = values.values();
      return path.replace(/:\w+/g, () => encoded(left.next().value ?? "1"));
    });
  const namesOf = ({ fields = [] }: AdminCall) => [...fields.map(memberName), "cursor", "pageSize", "x"];
  const call = fc.constantFrom(...calls).chain((one) =>
    fc
      .record({
        path: filled(one.path),
        members: fc.dictionary(fc.constantFrom(...namesOf(one)), value, { maxKeys: 6 }),
        isSession: fc.boolean(),
      })
      .map(({ path, members, isSession }): WireRequest => {
        const key: HeaderLines = isSession
          ? [
              ["Cookie", cookie],
              ["Sec-Fetch-Site", "same-origin"],
            ]
          : [["Authorization", bearer]];
        const target = `${adminPath}${path}`;
        if (one.method !== "GET" && one.method !== "DELETE") {
          const headers: HeaderLines = [...key, ["Content-Type", "application/json"]];
          return { method: one.method, target, headers, body: JSON.stringify(members) };
        }
        return { method: one.method, target: `${target}?${pairsOf(members)}`, headers: key };
      }),
  );
  const pageNames = ["tenant", "parts", "do", "cursor", "filter", "to"];
  const page = fc.constantFrom(...consolePages).chain(({ path, query = [] }) =>
    fc
      .record({
        where: filled(path),
        members: fc.dictionary(fc.constantFrom(...query, ...pageNames), text, { maxKeys: 4 }),
      })
      .map(({ where, members }): WireRequest => {
        const headers: HeaderLines = [["Cookie", cookie]];
        return { method: "GET", target: `/console${where}?${pairsOf(members)}`, headers };
      }),
  );
  const form = fc.constantFrom(...calls).chain((one) => {
    const options = [
      ...[...one.path.matchAll(/:(\w+)/g)].map(([, name]) => name!),
      ...(one.fields ?? []).map(({ option }) => option),
    ];
    const names = options.length === 0 ? ["x"] : options;
    return fc
      .record({
        act: fc.oneof({ weight: 9, arbitrary: fc.constant(one.act) }, { weight: 1, arbitrary: text }),
        members: fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 6 }),
      })
      .map(({ act, members }): WireRequest => {
        const headers: HeaderLines = [
          ["Cookie", cookie],
          ["Sec-Fetch-Site", "same-origin"],
          ["Content-Type", "application/x-www-form-urlencoded"],
        ];
        return { method: "POST", target: "/console/do", headers, body: pairsOf({ act, to: "/console", ...members }) };
      });
  });
  return fc.oneof({ weight: 3, arbitrary: call }, { weight: 1, arbitrary: page }, { weight: 1, arbitrary: form });
}

/** Objects as JSON: a random object may have a member `toString` that is no function. */
function pairsOf(members: Readonly<Record<string, unknown>>): string {
  const textOf = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined"));
  return Object.entries(members)
    .map(([name, value]) => `${encoded(name)}=${encoded(textOf(value))}`)
    .join("&");
}

/** Half of a surrogate pair can't be encoded. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
