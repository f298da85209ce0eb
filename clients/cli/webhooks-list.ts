import type { Command } from 'commander'
import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addWebhooksList(parent: Command, session: Session): void {
  withTarget(
    parent.command('list').description('the configured webhooks: name, host, and what each is told of'),
  ).action((options: TargetOptions) => list(session, options))
}

async function list(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), AnswerSchema, (api) => api.GET('/api/webhooks'))
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.webhooks.length === 0) session.say('No webhooks: webhooks in sluice.yaml names none.')
  for (const { name, host, events, dags, keys } of answer.webhooks) {
    const of = dags === undefined ? '' : ` of ${dags.join(', ')}`
    const rotated = keys > 1 ? ', key is being rotated' : ''
    session.say(`${name}  ${host}  ${events === 'all' ? 'all events' : events.join(', ')}${of}${rotated}`)
  }
}

/** A newer server may say more. */
const AnswerSchema = WEBHOOK_ROUTES['list-webhooks'].answer.loose()
