import { fstatSync, readdirSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { type LocalPlace, startPlace } from './local-place.ts'
import { findProjectPlace } from './project-place.ts'

export interface StartOptions {
  readonly port?: number
  readonly dataDir?: string
  readonly inputsDir?: string
  readonly example?: true
  readonly login?: boolean
  readonly json?: true
}

/** `sluice start`: the local place in the foreground, until it is told to stop. */
export function addStart(parent: Command, session: Session): void {
  parent
    .command('start')
    .description('start the local place: API and console on 127.0.0.1; runs of the data folder go on')
    .option('--port <n>', 'port to listen on (default: sluice.yaml, else 4040; 0 = any free one)', readPort)
    .option('--data-dir <dir>', 'folder of runs and objects (default: sluice.yaml, else .sluice)')
    .option('--inputs-dir <dir>', 'folder runs may read files from (default: sluice.yaml, else inputs)')
    .option('--example', 'serve the documents shipped with the package instead of ./dags')
    .option('--login', 'ask every call for a secret made at this start, in the address it prints')
    .option('--no-login', 'ask nothing, also on a terminal of another user (where --login is the default)')
    .option('--json', 'print one JSON line when it is ready')
    .action((options: StartOptions) => start(session, options))
}

async function start(session: Session, options: StartOptions): Promise<void> {
  const place = await startPlace({
    ...options,
    login: asksForLogin(options),
    logs: true,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void place.stop())
  if (options.json === true) session.say(jsonText(readyLine(place)))
  else for (const line of readyWords(place, resolve((await findProjectPlace()).dataDir))) session.say(line)
  // Not on stdout: a program reads there.
  for (const line of openToLines(place)) session.warn(line)
  const code = await place.ended
  if (code !== 0)
    session.warn(`The place ended with code ${code}. Its data is kept in ${place.dataDir}: start it again to go on.`)
  process.exitCode = code === 0 ? 0 : 1
}

/** As the option says; else where the terminal is another user's. */
export function asksForLogin({ login }: Pick<StartOptions, 'login'>): boolean {
  return login ?? isOtherUsersTerminal(stdinOwner(), process.getuid?.())
}

/** Whose terminal stdin is; undefined: it is none. */
function stdinOwner(): number | undefined {
  return process.stdin.isTTY === true ? fstatSync(0).uid : undefined
}

function readyLine({ url, pid, dataDir, login, firstTokens, consoleUrl, loginFile }: LocalPlace) {
  const place = { ready: true, url, pid, data_dir: dataDir }
  if (consoleUrl !== undefined) return { ...place, login, console_url: consoleUrl, login_file: loginFile }
  return { ...place, ...(login && { login, first_tokens: firstTokens }) }
}

export function readyWords(place: LocalPlace, ofProject: string): readonly string[] {
  const { url, pid, dataDir, login, consoleUrl = `${url}/` } = place
  const own = login === undefined || place.consoleUrl !== undefined
  return [
    `Sluice answers at ${url} (process ${pid}, data in ${dataDir}). Ctrl-C stops it; runs go on at the next start.`,
    own ? `Console: ${consoleUrl}` : `Console: sluice console --url ${url}`,
    // Commands in this folder read there where it listens.
    dataDir === ofProject ? [] : `Other commands find it with --url ${url}, or SLUICE_URL=${url}.`,
    loginLines(place),
  ].flat()
}

/** How to call a place that answers nobody without a token. */
function loginLines({ login, firstTokens: [first, ...others], loginFile }: LocalPlace): readonly string[] {
  if (login === undefined) return []
  if (loginFile !== undefined) {
    return [
      `It asks for a login: that address holds it, and commands in this folder read it in the data folder. Elsewhere: export SLUICE_TOKEN=$(cat ${loginFile})`,
    ]
  }
  if (first === undefined) return [`It asks for a ${login === 'jwt' ? 'JWT' : 'token'}: set SLUICE_TOKEN.`]
  const more = others.length === 0 ? [] : [`Those of the other tenants lie beside it: ${others.join(', ')}.`]
  return [`It asks for a token, and the first one lies in ${first}: export SLUICE_TOKEN=$(cat ${first})`, ...more]
}

export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}

/** Whom a place lets in that asks for no login. */
export function openToLines({ login }: Pick<LocalPlace, 'login'>): readonly string[] {
  return login === undefined ? openToWords(otherAccounts(process.platform, process.getuid?.())) : []
}

function openToWords(accounts: readonly string[] | undefined): readonly string[] {
  if (accounts === undefined || accounts.length === 0) return []
  const some = `${accounts.slice(0, 3).join(', ')}${accounts.length > 3 ? ', ..' : ''}`
  const people =
    accounts.length === 1
      ? `Another account of this machine (${some})`
      : `${accounts.length} other accounts of this machine (${some})`
  return [
    `${people} may log in, and every program of this machine may connect here and act as you. \`sluice start --login\` asks for a secret.`,
  ]
}

/**
 * Accounts of people on this machine besides root, who may do everything anyway, and whoever asks: on Linux those of a
 * passwd file with a shell, on macOS who has a folder in /Users. Undefined: nothing is read of this system. Accounts of a
 * directory service are not seen, nor those of services, whose programs could connect as well.
 */
export function otherAccounts(
  platform: NodeJS.Platform,
  uid: number | undefined,
  { passwd, homes }: AccountFiles = { passwd: '/etc/passwd', homes: '/Users' },
): readonly string[] | undefined {
  try {
    if (platform === 'darwin') return homesBeside(homes)
    return platform === 'linux' ? peopleBeside(readFileSync(passwd, 'utf8'), uid) : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether somebody became another user at their own terminal (su, sudo -u): their programs are not this user's, and could
 * connect to what this one starts. Off a terminal the default stays as it is (docs/adr/0066).
 */
export function isOtherUsersTerminal(owner: number | undefined, uid: number | undefined): boolean {
  return owner !== undefined && uid !== undefined && owner !== uid
}

interface AccountFiles {
  readonly passwd: string
  readonly homes: string
}

function peopleBeside(passwd: string, me: number | undefined): readonly string[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , id, , , , shell = ''] = line.split(':')
    const uid = Number(id)
    // As login.defs of the usual systems has it; 65534 is nobody.
    const isPerson = uid >= 1_000 && uid < 65_534 && !/\/(nologin|false)$/.test(shell)
    return isPerson && uid !== me ? name : []
  })
}

function homesBeside(homes: string): readonly string[] {
  const none = ['Shared', 'Guest', userInfo().username]
  return readdirSync(homes).filter((name) => !name.startsWith('.') && !none.includes(name))
}
