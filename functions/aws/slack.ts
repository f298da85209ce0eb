import type { Slack } from '../../shared/slack/slack-port.ts'
import { callWebApi } from '../slack/client/call-web-api.ts'
import { openSlack } from '../slack/client/open-slack.ts'
import type { Core } from './core.ts'
import { slackKeys } from './slack-keys.ts'

/** The Slack port of slack-work: every method, through Slack's client. */
export function openSlackClient(core: Pick<Core, 'settings' | 'secrets'>): Slack | undefined {
  const { slack } = core.settings
  return slack === undefined ? undefined : openSlack(slack, slackKeys(core), callWebApi)
}
