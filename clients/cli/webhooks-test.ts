import type { Command } from 'commander'
import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addWebhooksTest(parent: Command, session: Session): void {
  withTarget(parent.command('test').description('send a message of type webhook:test to an endpoint, once and now'))
    .argument('<name>', 'name of a webhook, as `webhooks list` shows it')
    .action((name: string, options: TargetOptions) => test(session, name, options))
}

async function test(session: Session, name: string, { url, json }: TargetOptions): Promise<void> {
  const sent = await callApi(chooseTarget(session, url), AnswerSchema, (api) =>
    api.POST('/api/webhooks/test', { body: { name } }),
  )
  if (!sent.delivered) process.exitCode = 1
  if (json === true) return session.say(jsonText(sent, 2))
  const words = sent.delivered ? `took it (${sent.status})` : `did not take it: ${sent.reason}`
  session.say(plainText(`${sent.endpoint} ${words}. Message: ${sent.id}`))
}

/** A newer server may say more. */
const AnswerSchema = WEBHOOK_ROUTES['test-webhook'].answer.loose()
