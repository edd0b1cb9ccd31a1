/** The type of every virtual device. */
export const virtualDeviceType = "EcosystemAccount";
