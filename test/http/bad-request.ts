import type { WireRequest } from "../isolation/wire.ts";

/** In everything that is wrong in the values: no answer may repeat it. */
export const sent = "SENT-BY-MISTAKE";

export interface BadRequest {
  readonly name: string;
  readonly request: WireRequest;
  /** Not all that is strange is wrong everywhere: some of it is ignored, or is a value like any other. */
  readonly mayPass?: boolean;
  /** It never becomes a request, or gets to no address that could give the refusal its shape. */
  readonly isNowhere?: boolean;
}

/** Values that no parameter wants; for some it is no fault to hold them. */
export const strangeValues = [
  "",
  " ",
  `${sent}\0`,
  `${sent}\u0007\u001b[31m`,
  `${sent}\r\nX-Injected: yes`,
  `${sent}'"<script>&`,
  `../../${sent}`,
  `${sent}\u202e\ufeff\uffff`,
  "__proto__",
  "constructor",
  sent.repeat(400),
  `${sent}%00`,
];
