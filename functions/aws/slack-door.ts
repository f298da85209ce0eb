import type { Slack } from '../../shared/slack/slack-port.ts'
import { callOnce } from '../slack/client/call-once.ts'
import { openSlack } from '../slack/client/open-slack.ts'
import { slackKeys } from './slack-key.ts'
import type { Core } from './world.ts'

/** The Slack port of the function that answers clicks: small, since somebody waits for its cold start (docs/adr/dependencies.md). */
export function openSlackDoor(core: Pick<Core, 'settings' | 'secrets'>): Slack | undefined {
  const { slack } = core.settings
  return slack === undefined ? undefined : openSlack(slack, slackKeys(core), callOnce)
}
