import type { Command } from 'commander'
import { TokenSchema } from '../../shared/auth/token-schema.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addTokenRevoke(parent: Command, session: Session): void {
  withTarget(parent.command('revoke').description('make a token invalid, for good'))
    .argument('<token-id>', 'as `token list` shows it: the 16 characters after slu_')
    .action((tokenId: string, options: TargetOptions) => revoke(session, tokenId, options))
}

async function revoke(session: Session, token_id: string, { url, json }: TargetOptions): Promise<void> {
  const revoked = await callApi(chooseTarget(session, url), AnswerSchema, (api) =>
    api.DELETE('/api/tokens/{token_id}', { params: { path: { token_id } } }),
  )
  if (json === true) return session.say(jsonText(revoked, 2))
  const { name, revoked_at, revoked_by } = revoked
  session.say(plainText(`Token ${revoked.token_id} "${name}" is revoked, at ${revoked_at} by ${revoked_by}.`))
  session.say('A deployment on AWS takes it for 60 seconds more at the most.')
}

/** A newer server may say more. */
const AnswerSchema = TokenSchema.loose()
