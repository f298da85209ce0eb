import type { Json } from '../../../shared/text/json.ts'
import { type CallSlack, SLACK_TIMEOUT_MS, slackFault } from './open-slack.ts'

/**
 * One plain request, for the function that answers clicks: views.open is all it ever calls, a trigger is used up by one
 * try, and Slack's own client would be half of what its bundle may hold (docs/adr/dependencies.md).
 */
export const callSlackOnce: CallSlack = async (method, args, { token, api_url }) => {
  const response = await fetch(`${api_url}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(args),
    redirect: 'error',
    signal: AbortSignal.timeout(SLACK_TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw slackFault(method, { cause })
  })
  const answer = await read(method, response)
  if (response.status === 200 && answer?.ok === true) return answer
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  throw slackFault(method, {
    error: typeof answer?.error === 'string' ? answer.error : undefined,
    status: response.status,
    retry_after_sec: Number.isFinite(wait) ? wait : undefined,
  })
}

/** undefined: no JSON object, as a proxy in between answers. */
async function read(method: string, response: Response): Promise<Readonly<Record<string, Json>> | undefined> {
  const text = await response.text().catch((cause: unknown) => {
    throw slackFault(method, { cause })
  })
  try {
    const answer: unknown = JSON.parse(text)
    // Parsed JSON that is an object is a record of JSON values.
    return typeof answer === 'object' && answer !== null ? (answer as Readonly<Record<string, Json>>) : undefined
  } catch {
    return undefined
  }
}
