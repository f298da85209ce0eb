/**
 * What every AWS client of ours is made with. Endpoint, region and credentials come from the SDK's own reading of the
 * environment (`AWS_ENDPOINT_URL_S3` and so on lead the tests to their emulators). The SDK's default never gives up on
 * an answer; three tries of ours fit into the 29 s a route has.
 */
export const CLIENT_OPTIONS = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 8_000, throwOnRequestTimeout: true },
} as const
