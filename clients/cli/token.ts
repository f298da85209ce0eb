import type { Command } from 'commander'
import type { Session } from './session.ts'
import { addTokenCreate } from './token-create.ts'
import { addTokenList } from './token-list.ts'
import { addTokenRevoke } from './token-revoke.ts'

/** `sluice token ..`: the bearer tokens of a place. */
export function addToken(parent: Command, session: Session): void {
  const token = parent.command('token').description('bearer tokens: who may call the API (docs/tokens.md)')
  addTokenCreate(token, session)
  addTokenList(token, session)
  addTokenRevoke(token, session)
}
