/** The regions of Alexa's event gateway. A message must go to the region in which the user's grant came. */
export const gatewayRegions = ["na", "eu", "fe"] as const;

export type GatewayRegion = (typeof gatewayRegions)[number];

/** The AWS regions in which Alexa calls a skill, and the region of the event gateway for each. */
const byAwsRegion: Readonly<Record<string, GatewayRegion>> = {
  "us-east-1": "na",
  "eu-west-1": "eu",
  "us-west-2": "fe",
};

/** Undefined for a region in which Alexa calls no skill. */
export function gatewayRegionOf(awsRegion: string | undefined): GatewayRegion | undefined {
  return awsRegion !== undefined && Object.hasOwn(byAwsRegion, awsRegion) ? byAwsRegion[awsRegion] : undefined;
}

export const awsRegions = Object.keys(byAwsRegion);
