import { callOnce } from '../../functions/slack/client/call-once.ts'
import { openSlack } from '../../functions/slack/client/open-slack.ts'
import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Slack } from '../../shared/slack/slack-port.ts'

/** The Slack port of this place: keys by environment variable; the client is loaded by the first call that needs it. */
export function createSlack({ slack }: Settings, held: ReadonlyMap<string, string>): Slack | undefined {
  if (slack === undefined) return undefined
  return openSlack(
    slack,
    async ({ env }) => {
      const key = env === undefined ? '' : (held.get(env) ?? '')
      if (key.trim() !== '') return key
      throw new Fault('InvalidInput', 'slack_key_missing', `Cannot reach Slack: ${whyMissing(env)}`)
    },
    async (method, ...call) => {
      // Slack waits for this one: as on AWS it is tried once.
      if (method === 'views.open') return callOnce(method, ...call)
      const { callWebApi } = await import('../../functions/slack/client/call-web-api.ts')
      return callWebApi(method, ...call)
    },
  )
}

/** One sentence for each secret of Slack that is not there. */
export function missingSlackKeys({ slack }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return slackKeyNames(slack).flatMap(({ env, of }) => {
    const isThere = env !== undefined && (held.get(env) ?? '').trim() !== ''
    return isThere ? [] : [`Slack is not told of approvals: slack.${of}: ${whyMissing(env)}`]
  })
}

/** The environment variables that hold Slack's secrets. */
export function slackKeyNames(slack: Settings['slack']) {
  if (slack === undefined) return []
  const signing = [slack.signing_secret].flat()
  return [
    { of: 'token', env: slack.token.env },
    ...signing.map(({ env }, i) => ({ of: signing.length > 1 ? `signing_secret.${i}` : 'signing_secret', env })),
  ]
}

function whyMissing(env: string | undefined): string {
  return env === undefined
    ? 'its secret is only where AWS keeps it. Add env: NAME in sluice.yaml for this place.'
    : `environment variable ${env} is not set. Set it and start the place again.`
}
