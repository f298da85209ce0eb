import type { KeyRef } from '../../shared/key-settings.ts'
import type { Settings } from '../../shared/settings.ts'
import { SLACK_SCOPES } from '../../shared/slack/app-manifest.ts'
import type { SlackSettings } from '../../shared/slack/slack-settings.ts'
import type { Target } from './api.ts'
import { askSlack, type SlackAnswer } from './ask-slack.ts'
import { type Check, check } from './check.ts'
import { type Door, knockAtDoor } from './knock-at-door.ts'
import type { Session } from './session.ts'

/** Slack's own bound on the age of a request, and ours. */
const MOST_SKEW_SEC = 300

/**
 * Token, workspace and scopes as Slack sees them; then the address Slack sends to, the signing secret there and the
 * clocks, told apart: the address is asked as Slack would ask, with a signature made for the server's own time.
 */
export async function slackChecks(
  session: Session,
  settings: Settings | undefined,
  target: Target,
): Promise<readonly Check[]> {
  const slack = settings?.slack
  if (slack === undefined) return [check.skipped('slack', 'sluice.yaml names no workspace; docs/slack.md sets one up')]
  const token = keyOf(session, slack.token)
  const answer = token === undefined ? undefined : await askSlack(slack.api_url, token)
  const base = slack.url ?? target.url
  const secrets = [slack.signing_secret].flat().map((ref) => keyOf(session, ref))
  const door = await knockAtDoor(base, secrets[0])
  return [
    tokenCheck(slack, token, answer),
    ...(answer?.ok === true ? [scopesCheck(answer)] : []),
    urlCheck(base, door),
    secretCheck(slack, secrets[0], door),
    clockCheck(door, answer),
  ]
}

function keyOf(session: Session, { env }: KeyRef): string | undefined {
  const key = env === undefined ? undefined : session.key(env)
  return key === undefined || key.trim() === '' ? undefined : key
}

function notHere(name: string, { env }: KeyRef): Check {
  if (env === undefined)
    return check.skipped(name, 'it is only where AWS keeps it; add env: NAME to check it from here')
  return check.failed(name, `environment variable ${env} is not set`, `set ${env}, as the place needs it too`)
}

function tokenCheck(slack: SlackSettings, token: string | undefined, answer: SlackAnswer | undefined): Check {
  const name = 'slack.token'
  if (token === undefined || answer === undefined) return notHere(name, slack.token)
  if (answer.error !== undefined) {
    const fix = answer.reached
      ? 'copy the bot token (xoxb-..) of the app, "OAuth & Permissions"'
      : 'check the network, and slack.api_url'
    return check.failed(
      name,
      answer.reached ? `Slack says ${answer.error}` : `Slack does not answer: ${answer.error}`,
      fix,
    )
  }
  if (answer.team_id === slack.team_id) return check.ok(name, `of workspace ${answer.team_id}`)
  const says = `it is of workspace ${answer.team_id}, and slack.team_id is ${slack.team_id}`
  return check.failed(name, says, 'use the token of the pinned workspace, or pin the other one')
}

function scopesCheck({ scopes }: SlackAnswer): Check {
  const missing = SLACK_SCOPES.filter((scope) => !scopes.includes(scope))
  if (missing.length === 0) return check.ok('slack.scopes', SLACK_SCOPES.join(', '))
  const fix = 'add them under "OAuth & Permissions" and install the app again; `sluice slack manifest` has them'
  return check.failed('slack.scopes', `${missing.join(', ')} is missing`, fix)
}

function urlCheck(base: string, door: Door): Check {
  const name = 'slack.url'
  if (door.kind === 'sluice') return check.ok(name, `${base} takes requests of Slack`)
  const fix = 'give slack.url the address of the deployment, and the app the request URL of `sluice slack manifest`'
  return check.failed(name, `wrong URL: ${door.says}`, fix)
}

function secretCheck(slack: SlackSettings, secret: string | undefined, door: Door): Check {
  const name = 'slack.secret'
  const [first = slack.token] = [slack.signing_secret].flat()
  if (secret === undefined) return notHere(name, first)
  if (door.kind !== 'sluice') return check.skipped(name, 'nobody to ask: see slack.url')
  if (door.accepted) return check.ok(name, 'the server takes what it signs')
  const fix = 'copy "Signing Secret" from the app\'s "Basic Information" to both, and start the server again'
  return check.failed(name, 'wrong secret: the server refuses what this signing secret signs', fix)
}

/** Of the server against Slack's, else against this machine's. */
function clockCheck(door: Door, answer: SlackAnswer | undefined): Check {
  const name = 'slack.clock'
  if (door.kind !== 'sluice' || door.clock === undefined) return check.skipped(name, 'the server tells no time')
  const [other, whose] = answer?.clock === undefined ? [door.asked_at, 'this machine'] : [answer.clock, 'Slack']
  const skew = Math.round((door.clock - other) / 1_000)
  if (Math.abs(skew) <= MOST_SKEW_SEC) return check.ok(name, `the server is ${Math.abs(skew)} s from ${whose}`)
  const says = `clock skew: the server is ${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} ${whose}`
  return check.failed(name, says, 'let the server keep its time by NTP: requests of Slack are refused past 300 s')
}
