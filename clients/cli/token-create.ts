import { Argument, type Command, Option } from 'commander'
import { TOKEN_ROUTES } from '../../shared/api/token-routes.ts'
import { SCOPES, type Scope } from '../../shared/auth/scope.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

export function addTokenCreate(parent: Command, session: Session): void {
  withTarget(parent.command('create').description('make a token; its text is shown this once'))
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
  const made = await callApi(chooseTarget(session, url), AnswerSchema, (api) => api.POST('/api/tokens', { body }))
  if (json === true) return session.say(jsonText(made, 2))
  // The token alone on stdout: `export SLUICE_TOKEN=$(sluice token create ..)`.
  const until = made.expires_at.slice(0, 10)
  session.warn(plainText(`Token ${made.token_id} "${made.name}": ${made.scopes.join(', ')}, until ${until}.`))
  session.warn('Keep its text now: it is kept nowhere, and never shown again.')
  session.say(made.token)
}

/** A newer server may say more. */
const AnswerSchema = TOKEN_ROUTES['create-token'].answer.loose()
