import type { Description } from "../../http/documentation/description.ts";

export const readMetrics: Description = {
  operationId: "readMetrics",
  tag: "Service",
  summary: "What is measured",
  words: [
    "Figures about this node in Prometheus' text format: requests, latencies, links, commits, alerts, fan requests, webhooks, the store and the process. No label holds an id or a secret.",
    "Open to local calls: from this machine, without a proxy, and with `localhost`, `127.x.x.x` or `[::1]` in the `Host` header. All other calls need the operator's token (`BREEZEWAY_METRICS_TOKEN`) in `Authorization: Bearer`.",
  ],
  answers: [
    {
      status: 200,
      meaning: "The figures.",
      content: {
        contentType: "text/plain",
        schema: { type: "string" },
        example:
          "# HELP breezeway_event_readers Open streams of events.\n# TYPE breezeway_event_readers gauge\nbreezeway_event_readers 3\n",
      },
    },
  ],
  errors: [
    {
      status: 401,
      code: "missing_token",
      when: "The call is not local, and has no token.",
    },
    {
      status: 401,
      code: "invalid_token",
      when: "The call is not local, and its token is wrong.",
    },
  ],
};
