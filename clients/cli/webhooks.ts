import type { Command } from 'commander'
import type { Session } from './session.ts'
import { addWebhooksDead } from './webhooks-dead.ts'
import { addWebhooksList } from './webhooks-list.ts'
import { addWebhooksReplay } from './webhooks-replay.ts'
import { addWebhooksTest } from './webhooks-test.ts'

/** `sluice webhooks ..`: who is told of events, and what nobody took. */
export function addWebhooks(parent: Command, session: Session): void {
  const webhooks = parent.command('webhooks').description('who is told of events over HTTP (docs/webhooks.md)')
  addWebhooksList(webhooks, session)
  addWebhooksTest(webhooks, session)
  addWebhooksDead(webhooks, session)
  addWebhooksReplay(webhooks, session)
}
