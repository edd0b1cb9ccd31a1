import { errorFields } from "../../../http/answer/error-response.ts";
import { BadParameter } from "../../../model/errors.ts";
import { type Html, html } from "../../../web/html.ts";
import { iconOf } from "../../../web/icons.ts";

/** Why a call did not accept its input. */
export interface Refused {
  /** The option that is wrong; undefined when no single one is. */
  readonly option: string | undefined;
  readonly sentence: string;
}

export type Attempt<Answer> = { readonly answer: Answer; readonly refused?: undefined } | { readonly refused: Refused };

/** Statuses that speak about the input. Everything else is an error of the whole page. */
const ofInput: readonly number[] = [400, 404, 409, 413, 422];

/** Runs a call whose input a person has typed. What is wrong with it is shown beside the field, with what was typed. */
export async function attempt<Answer>(call: Promise<Answer>): Promise<Attempt<Answer>> {
  try {
    return { answer: await call };
  } catch (error) {
    const { status, sentence } = errorFields(error);
    if (!ofInput.includes(status)) throw error;
    const option = error instanceof BadParameter ? error.parameter : undefined;
    return { refused: { option, sentence: inWordsOfForm(sentence) } };
  }
}

/** A sentence that names an option of the command line names the field of the form instead. */
export function inWordsOfForm(sentence: string): string {
  return sentence.replace(/--([a-z]+(?:-[a-z]+)*)/g, (_, option: string) => option.replaceAll("-", " "));
}

export function refusal({ sentence }: Refused, id?: string): Html {
  return html`<p class="refusal" role="alert"${id === undefined ? undefined : html` id="${id}"`}>${iconOf("warning")}<span>${sentence}</span></p>`;
}
