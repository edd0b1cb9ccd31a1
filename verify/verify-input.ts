/** The deployment to verify and what verify may use there: typed by a person, or taken from a temporary tenant. */
export interface VerifyInput {
  /** {base_url} of the deployment. */
  readonly url: string;
  readonly client: ClientInput | undefined;
  readonly person: { readonly name: string; readonly password: string } | undefined;
  /** A person signs in with a browser, because verify has no password. */
  readonly signsInByHand: boolean;
  readonly appId: string | undefined;
  /** An ordinary device that may be written to. */
  readonly deviceId: number | undefined;
  /** A device of another user. */
  readonly foreignDeviceId: number | undefined;
  /** `isAssumed`: verify found the simulator itself, so it may belong to another deployment. */
  readonly simulator: { readonly url: string; readonly isAssumed: boolean } | undefined;
  readonly ecosystem: string;
  readonly isPatient: boolean;
}

export interface ClientInput {
  readonly id: string;
  readonly secret: string;
  /** A registered redirect address of the client. */
  readonly redirectUri: string;
}
