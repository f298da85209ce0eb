import type { Command } from 'commander'
import type { Session } from './session.ts'
import { addSlack } from './slack.ts'
import { addToken } from './token.ts'
import { addWebhooks } from './webhooks.ts'

/** The commands about who Sluice talks to, and who may call it. */
export function addConnectCommands(parent: Command, session: Session): void {
  for (const add of [addSlack, addWebhooks, addToken]) add(parent, session)
}
