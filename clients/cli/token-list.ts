import type { Command } from 'commander'
import * as z from 'zod'
import { type ShownToken, TokenSchema } from '../../shared/auth/token-schema.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addTokenList(parent: Command, session: Session): void {
  withTarget(parent.command('list').description('the tokens there are, newest first, with what each may do')).action(
    (options: TargetOptions) => list(session, options),
  )
}

async function list(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), AnswerSchema, (api) => api.GET('/api/tokens'))
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.tokens.length === 0) session.say('No tokens: `sluice token create` makes one.')
  for (const token of answer.tokens) session.say(plainText(lineOf(token)))
}

function lineOf({ token_id, state, expires_at, revoked_at, scopes, name, person }: ShownToken): string {
  const day = { valid: 'until', expired: 'since', revoked: 'since' }[state]
  const at = (state === 'revoked' ? revoked_at : expires_at)?.slice(0, 10)
  return `${token_id}  ${state} ${day} ${at}  ${scopes.join(' ')}  ${name}${person === undefined ? '' : `  of ${person}`}`
}

/** A newer server may say more. */
const AnswerSchema = z.looseObject({ tokens: z.array(TokenSchema.loose()) })
