export type ChunkedState = "open" | "ended" | "broken";

/** What stands around the data is short, unless somebody means no good. */
const longestLine = 4_096;
const lineFeed = 0x0a;

/** Reads a body in chunks (RFC 9112 7.1) as its bytes come, wherever they are cut, and gives the data without a copy. */
export class ChunkedBody {
  readonly #give: (bytes: Buffer) => void;
  #state: ChunkedState = "open";
  #place: "size" | "data" | "behind data" | "trailer" = "size";
  /** What has come of the present line. */
  #line = "";
  /** What is still to come of the present chunk. */
  #left = 0;

  constructor(give: (bytes: Buffer) => void) {
    this.#give = give;
  }

  /** How it stands after these bytes. What comes behind the end is passed over. */
  take(bytes: Buffer): ChunkedState {
    for (let at = 0; at < bytes.length && this.#state === "open"; ) {
      at = this.#place === "data" ? this.#takeData(bytes, at) : this.#takeLine(bytes, at);
    }
    return this.#state;
  }

  #takeData(bytes: Buffer, start: number): number {
    const end = Math.min(bytes.length, start + this.#left);
    this.#left -= end - start;
    if (this.#left === 0) this.#place = "behind data";
    this.#give(bytes.subarray(start, end));
    return end;
  }

  #takeLine(bytes: Buffer, start: number): number {
    const lineEnd = bytes.indexOf(lineFeed, start);
    const end = lineEnd < 0 ? bytes.length : lineEnd + 1;
    this.#line += bytes.toString("latin1", start, end);
    if (this.#line.length > longestLine) this.#state = "broken";
    else if (lineEnd >= 0) {
      const line = this.#line;
      this.#line = "";
      if (line.endsWith("\r\n")) this.#endLine(line.slice(0, -2));
      else this.#state = "broken";
    }
    return end;
  }

  #endLine(line: string): void {
    if (this.#place === "size") {
      const [, digits] = /^([0-9a-f]{1,8})(?:;.*)?$/i.exec(line) ?? [];
      if (digits === undefined) this.#state = "broken";
      this.#left = Number.parseInt(digits ?? "", 16);
      this.#place = this.#left > 0 ? "data" : "trailer";
    } else if (this.#place === "trailer") {
      if (line === "") this.#state = "ended";
    } else if (line === "") this.#place = "size";
    else this.#state = "broken";
  }
}
