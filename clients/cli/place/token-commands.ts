import { Argument, type Command, Option } from 'commander'
import * as z from 'zod'
import { TOKEN_ROUTES } from '../../../shared/api/token-routes.ts'
import { SCOPES, type Scope } from '../../../shared/auth/scopes.ts'
import { type ShownToken, TokenSchema } from '../../../shared/auth/token.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { type TargetOptions, wholeNumber, withTargetOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'

/** `sluice token ..`: the bearer tokens of a place. */
export function addToken(parent: Command, session: Session): void {
  const token = parent.command('token').description('bearer tokens: who may call the API (docs/tokens.md)')
  addTokenCreate(token, session)
  addTokenList(token, session)
  addTokenRevoke(token, session)
}

function addTokenCreate(parent: Command, session: Session): void {
  withTargetOptions(parent.command('create').description('make a token; its text is shown this once'))
    .argument('<name>', 'what it is for')
    .addArgument(new Argument('<scopes...>', 'what it may do: none that you may not').choices(SCOPES))
    .option('--tenant <name>', 'another tenant than yours; an operator may')
    .option('--person <user:name>', 'whose it is, if not yours; an operator may')
    .addOption(new Option('--client <kind>', 'made for a client of this kind, which is recorded').choices([CLIENT]))
    .option('--days <n>', 'when it expires, 1 to 365', wholeNumber(1, 365), DAYS)
    .action((name: string, scopes: readonly Scope[], options: CreateOptions) => create(session, name, scopes, options))
}

const DAYS = 90
const CLIENT = 'mcp'

interface CreateOptions extends TargetOptions {
  readonly days: number
  readonly tenant?: string
  readonly person?: string
  readonly client?: typeof CLIENT
}

async function create(
  session: Session,
  name: string,
  scopes: readonly Scope[],
  { url, json, days, tenant, person, client }: CreateOptions,
): Promise<void> {
  const body = {
    name,
    scopes: [...new Set(scopes)],
    expires_in_days: days,
    ...(tenant === undefined ? {} : { tenant }),
    ...(person === undefined ? {} : { person }),
    ...(client === undefined ? {} : { client }),
  }
  const made = await callApi(chooseTarget(session, url), CreatedSchema, (api) => api.POST('/api/tokens', { body }))
  if (json === true) return session.say(jsonText(made, 2))
  // The token alone on stdout: `export SLUICE_TOKEN=$(sluice token create ..)`.
  const until = made.expires_at.slice(0, 10)
  session.warn(plainText(`Token ${made.token_id} "${made.name}": ${made.scopes.join(', ')}, until ${until}.`))
  session.warn('Keep its text now: it is kept nowhere, and never shown again.')
  session.say(made.token)
}

/** A newer server may say more. */
const CreatedSchema = TOKEN_ROUTES['create-token'].answer.loose()

function addTokenList(parent: Command, session: Session): void {
  withTargetOptions(
    parent.command('list').description('the tokens there are, newest first, with what each may do'),
  ).action((options: TargetOptions) => list(session, options))
}

async function list(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), ListSchema, (api) => api.GET('/api/tokens'))
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
const ListSchema = z.looseObject({ tokens: z.array(TokenSchema.loose()) })

function addTokenRevoke(parent: Command, session: Session): void {
  withTargetOptions(parent.command('revoke').description('make a token invalid, for good'))
    .argument('<token-id>', 'as `token list` shows it: the 16 characters after slu_')
    .action((tokenId: string, options: TargetOptions) => revoke(session, tokenId, options))
}

async function revoke(session: Session, token_id: string, { url, json }: TargetOptions): Promise<void> {
  const revoked = await callApi(chooseTarget(session, url), RevokedSchema, (api) =>
    api.DELETE('/api/tokens/{token_id}', { params: { path: { token_id } } }),
  )
  if (json === true) return session.say(jsonText(revoked, 2))
  const { name, revoked_at, revoked_by } = revoked
  session.say(plainText(`Token ${revoked.token_id} "${name}" is revoked, at ${revoked_at} by ${revoked_by}.`))
  session.say('A deployment on AWS takes it for 60 seconds more at the most.')
}

/** A newer server may say more. */
const RevokedSchema = TokenSchema.loose()
