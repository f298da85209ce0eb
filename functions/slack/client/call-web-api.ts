import {
  type Logger,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebClient,
} from '@slack/web-api'
import type { Fault } from '../../../shared/errors.ts'
import type { Json } from '../../../shared/text/json.ts'
import { type CallSlack, SLACK_TIMEOUT_MS, slackFault } from './open-slack.ts'

/**
 * Calls through Slack's own client. Its defaults are ten tries in thirty minutes and no time-out; here it is one more
 * try, 1.5 s each, no wait for a rate limit (who calls knows when to come back), and no address but the configured one.
 */
export const callWebApi: CallSlack = async (method, args, { token, api_url }) => {
  const client = new WebClient(token, {
    slackApiUrl: api_url,
    allowAbsoluteUrls: false,
    timeout: SLACK_TIMEOUT_MS,
    retryConfig: { retries: 1, minTimeout: 200, maxTimeout: 400 },
    rejectRateLimitedCalls: true,
    logger: SILENT,
  })
  try {
    // What Slack answers is JSON.
    return (await client.apiCall(method, { ...args })) as unknown as Readonly<Record<string, Json>>
  } catch (thrown) {
    throw faultOf(method, thrown)
  }
}

function faultOf(method: string, thrown: unknown): Fault {
  if (thrown instanceof WebAPIPlatformError) return slackFault(method, { error: thrown.data.error, cause: thrown })
  if (thrown instanceof WebAPIRateLimitedError) {
    return slackFault(method, { status: 429, retry_after_sec: thrown.retryAfter, cause: thrown })
  }
  const status = thrown instanceof WebAPIHTTPError ? thrown.statusCode : undefined
  return slackFault(method, { status, cause: thrown })
}

/** Its own words hold addresses and arguments; ours tell what went wrong. */
const SILENT: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
}
