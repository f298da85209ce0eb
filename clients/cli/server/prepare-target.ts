import type { Command } from 'commander'
import { findLogin } from '../place/local-login.ts'
import { findProjectPlace, type ProjectPlace } from '../place/project-place.ts'
import { takeShortIds } from '../run/whole-ids.ts'
import { onlyReads, type TargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { chooseTarget } from './api.ts'

/** Before a command that talks to a server: which one, and which runs are meant. */
export async function prepareTarget(session: Session, command: Command): Promise<void> {
  await findTarget(session, command)
  await takeShortIds(session, command)
}

/**
 * Before a command that talks to a server: a deployment named by --stack, or one whose address is API Gateway's and that
 * no token opens, is called with the AWS credentials of the caller; nothing of AWS is loaded otherwise. A place of this
 * user's that asks for a login gets it.
 */
async function findTarget(session: Session, command: Command): Promise<void> {
  const options = command.opts<Writable>()
  const { stack, url: given, profile, region } = options
  // Commands that pass their other options on, as a filter of the server, must not pass these.
  for (const name of ['stack', 'profile', 'region'] as const) delete options[name]
  if (stack !== undefined && given !== undefined)
    throw usageError('Cannot use --stack and --url together: one says where.')
  const url = given ?? session.settings.url
  const named = [stack, profile, region].some((option) => option !== undefined)
  if (!named && !isGateway(session, url)) return await prepareLocal(session, command, url)
  const { openSignedTarget } = await import('../aws/signed-target.ts')
  session.signed = await openSignedTarget({ stack, url, profile, region })
}

function isGateway({ settings }: Session, url: string | undefined): boolean {
  return url !== undefined && settings.token === undefined && GATEWAY_HOST.test(url)
}

async function prepareLocal(session: Session, command: Command, url: string | undefined): Promise<void> {
  const place = await findProjectPlace()
  session.place = place
  const login = findLogin(url ?? place.url, place.dataDir)
  if (login !== undefined) session.login = login
  if (url === undefined && onlyReads(command)) await openFolder(session, place)
}

/** Without a server a command that only reads has the data folder itself. */
async function openFolder(session: Session, place: ProjectPlace): Promise<void> {
  const { openReadingPlace } = await import('../place/reading-place.ts')
  const reading = await openReadingPlace(session, chooseTarget(session), place)
  if (reading !== undefined) session.reading = reading
}

type Writable = { -readonly [Name in keyof TargetOptions]: TargetOptions[Name] }

const GATEWAY_HOST = /^https:\/\/[a-z0-9]+\.execute-api\./
