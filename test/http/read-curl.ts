/** A request as curl would send it. */
export interface CurlRequest {
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Record<string, string> };
}

/**
 * Parses a curl command as a shell and curl would: quotes, variables, and the options that the examples use. It shares
 * no code with the writer, and throws at anything unknown.
 */
export function readCurl(command: string, variables: Readonly<Record<string, string>>): CurlRequest {
  const [program, ...rest] = shellWords(command, variables);
  if (program !== "curl") throw new Error(`no curl: ${program}`);
  const headers: Record<string, string> = {};
  const data: string[] = [];
  let url: string | undefined;
  let method: string | undefined;
  let isQuery = false;
  while (rest.length > 0) {
    const word = rest.shift()!;
    const value = () => rest.shift() ?? fail(`${word} has no value`);
    if (word === "-G") isQuery = true;
    else if (word === "-X") method = value();
    else if (word === "-d") data.push(value());
    else if (word === "--data-urlencode") data.push(value().replace(/(?<=^[^=]*=).*$/s, encodeURIComponent));
    else if (word === "-u") headers.authorization = `Basic ${Buffer.from(value()).toString("base64")}`;
    else if (word === "-H") {
      const [, name = "", text = ""] = /^([^:]+): (.*)$/.exec(value()) ?? [];
      headers[name.toLowerCase()] = text;
    } else if (word.startsWith("-") || url !== undefined) fail(`unknown: ${word}`);
    else url = word;
  }
  if (url === undefined) return fail("no address");
  if (isQuery || data.length === 0) {
    const query = data.length > 0 ? `?${data.join("&")}` : "";
    return { url: url + query, init: { method: method ?? "GET", headers } };
  }
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return { url, init: { method: method ?? "POST", headers: { ...type, ...headers }, body: data.join("&") } };
}

function shellWords(command: string, variables: Readonly<Record<string, string>>): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const parts = /'([^']*)'|"([^"\\]*)"|\\(\n)|\\(.)|(\s+)|([^\s'"\\]+)/gsy;
  const filled = (text: string) =>
    text.replace(/\$(\w+)/g, (_, name: string) => variables[name] ?? fail(`$${name} is not set`));
  for (let at = 0; at < command.length; at = parts.lastIndex) {
    parts.lastIndex = at;
    const found = parts.exec(command) ?? fail(`not a command at ${at}: ${command}`);
    const [, single, double, continued, escaped, space, plain] = found;
    if (space !== undefined || continued !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    if (plain !== undefined && /[;&|<>()*?[\]{}~#!`]/.test(plain))
      fail(`a shell would take ${plain} for something else`);
    word = (word ?? "") + (single ?? escaped ?? filled(double ?? plain ?? ""));
  }
  return word === undefined ? words : [...words, word];
}

function fail(sentence: string): never {
  throw new Error(sentence);
}
