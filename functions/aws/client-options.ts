/**
 * What every AWS client of ours is made with. Endpoint, region and credentials come from the SDK's own reading of the
 * environment (`AWS_ENDPOINT_URL_S3` and so on lead the tests to their emulators). The SDK's default never gives up on
 * an answer; a function that is about to be ended must.
 */
export const CLIENT_OPTIONS = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} as const
