import type { AlexaAnswers } from "../../assistants/alexa/answers.ts";
import { readDirective } from "../../assistants/alexa/directive.ts";
import { directivePath } from "../../assistants/alexa/settings.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { CallerIds } from "../../http/answer/failure.ts";
import type { Route } from "../../http/routes.ts";
import { BadParameter } from "../../model/errors.ts";
import { answerDirective } from "./alexa-descriptions.ts";

export interface AlexaRouteParts {
  readonly alexa: AlexaAnswers;
}

/** Directives have a few kilobytes at most; tokens of Alexa may be long. */
const bodyBytes = 65_536;

/** Directives of Alexa (docs/outlets/alexa.md). The user's token is in the directive, so the handler verifies it. */
export function alexaRoutes({ alexa }: AlexaRouteParts): readonly Route[] {
  return [
    {
      methods: ["POST"],
      path: directivePath,
      access: "public",
      errors: "standard",
      bodyBytes,
      description: answerDirective,
      async answer(incoming) {
        const directive = readDirective(incoming.body.kind === "json" ? incoming.body.value : undefined);
        if (!directive) throw new BadParameter("body", "The body must be a directive of Alexa, with a header.");
        const [, region] = incoming.query.find(([name]) => name === "region") ?? [];
        let caller: CallerIds | undefined;
        const answer = await alexa.answer(directive, region, (ids) => {
          caller = ids;
        });
        return { ...jsonAnswer(200, answer), about: { caller } };
      },
    },
  ];
}
