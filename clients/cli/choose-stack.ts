import type { Command } from 'commander'
import { findLogin } from './local-login.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import type { TargetOptions } from './target-options.ts'

/**
 * Before a command that talks to a server: a deployment named by --stack, or one whose address is API Gateway's and that
 * no token opens, is called with the AWS credentials of the caller; nothing of AWS is loaded otherwise. A place of this
 * user's that asks for a login gets it.
 */
export async function chooseStack(session: Session, command: Command): Promise<void> {
  if (!command.options.some(({ long }) => long === '--stack')) return
  const options = command.opts<Writable>()
  const { stack, url: given, profile, region } = options
  // Commands that pass their other options on, as a filter of the server, must not pass these.
  for (const name of ['stack', 'profile', 'region'] as const) delete options[name]
  if (stack !== undefined && given !== undefined) throw usage('Cannot use --stack and --url together: one says where.')
  const { settings } = session
  const url = given ?? settings.url
  const named = [stack, profile, region].some((option) => option !== undefined)
  if (!named && !(url !== undefined && settings.token === undefined && GATEWAY_HOST.test(url))) {
    const login = await findLogin(url)
    if (login !== undefined) session.login = login
    return
  }
  const { openSignedTarget } = await import('./aws/signed-target.ts')
  session.signed = await openSignedTarget({ stack, url, profile, region })
}

type Writable = { -readonly [Name in keyof TargetOptions]: TargetOptions[Name] }

const GATEWAY_HOST = /^https:\/\/[a-z0-9]+\.execute-api\./
