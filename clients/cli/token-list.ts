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

/** What it is and may do; who made it, and who made it invalid. Never its secret, which nobody has. */
function lineOf(token: ShownToken): string {
  const { token_id, state, expires_at, revoked_at, revoked_by, revoked_person, scopes, name, person } = token
  const { created_at, created_by, created_person } = token
  const ends = {
    valid: `until ${day(expires_at)}`,
    expired: `since ${day(expires_at)}`,
    revoked: `at ${revoked_at} by ${named(revoked_by, revoked_person)}`,
  }
  const whose = person === undefined ? '' : `  of ${person}`
  return `${token_id}  ${state} ${ends[state]}  ${scopes.join(' ')}  ${name}${whose}  made at ${created_at} by ${named(created_by, created_person)}`
}

function day(time: string): string {
  return time.slice(0, 10)
}

function named(by = 'nobody', person: string | undefined): string {
  return person === undefined ? by : `${by} (${person})`
}

/** A newer server may say more. */
const AnswerSchema = z.looseObject({ tokens: z.array(TokenSchema.loose()) })
