import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { SignedTarget } from '../aws/signed-target.ts'
import type { LocalLogin, ReadingPlace } from '../place/local-login.ts'
import type { ProjectPlace } from '../place/project-place.ts'
import { usageError } from './refused.ts'

/** What a command talks to: the terminal (or pipe) it was started on, and its settings. */
export interface Session {
  readonly settings: Settings
  /** The deployment on AWS this command line names (clients/cli/command-tree.ts finds it before the command runs). */
  signed?: SignedTarget
  /** What opens the place here that this command line names, where it asks for a login of its start. */
  login?: LocalLogin
  /** The place of the project this command stands in, for commands that talk to a server. */
  place?: ProjectPlace
  /** Its data folder, opened for this command alone. */
  reading?: ReadingPlace
  /** The value of an environment variable that sluice.yaml names. */
  key(name: string): string | undefined
  /** The environment of a program it starts: its own, and more. */
  environment(more: Readonly<Record<string, string>>): Readonly<Record<string, string | undefined>>
  /** One line, or several, to stdout. */
  say(text: string): void
  /** To stderr. */
  warn(text: string): void
  /** Unended text or bytes to stdout: parts of a live view, NDJSON, artifacts. Resolves when the reader keeps up. */
  write(text: string | Uint8Array): Promise<void>
  /** stdout is a terminal. */
  readonly terminal: boolean
  /** stdout is a terminal whose cursor can be moved. */
  readonly live: boolean
  /** A person can be asked: stdin and stdout are terminals. */
  readonly asks: boolean
  size(): { readonly columns: number; readonly rows: number }
}

export function openSession(): Session {
  const settings = readSettings(process.env)
  const { stdin, stdout, stderr } = process
  const terminal = stdout.isTTY === true
  return {
    settings: { ...settings, color: settings.color && (terminal || settings.forceColor === true) },
    say: (text) => void stdout.write(`${text}\n`),
    warn: (text) => void stderr.write(`${text}\n`),
    write: (text) =>
      stdout.write(text) ? Promise.resolve() : new Promise((resolve) => stdout.once('drain', () => resolve())),
    key: (name) => process.env[name],
    environment: (more) => ({ ...process.env, ...more }),
    terminal,
    live: terminal && settings.cursor,
    asks: terminal && stdin.isTTY === true,
    size: () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }),
  }
}

/** What the CLI reads of the environment, which it does only here. Told by hand: a schema would be most of the start of `--help`. */
interface Environment {
  readonly SLUICE_URL?: string
  readonly SLUICE_TOKEN?: string
  readonly SLUICE_LOG?: string
  readonly NO_COLOR?: string
  readonly FORCE_COLOR?: string
  readonly CI?: string
  readonly TERM?: string
  /** What npm says to a script: `run` or `run-script`, and the script's name. */
  readonly npm_command?: string
  readonly npm_lifecycle_event?: string
  /** Where the person stood who called npm: it runs a script in the folder of the package. */
  readonly INIT_CWD?: string
  /** That package's package.json. */
  readonly npm_package_json?: string
  /** And to what npx runs: `exec`, and the program's name in quotes. */
  readonly npm_lifecycle_script?: string
}

interface Settings {
  /** SLUICE_URL, where set. */
  readonly url?: string
  readonly token?: string
  readonly color: boolean
  /** Colour also where stdout is no terminal (FORCE_COLOR). */
  readonly forceColor?: true
  /** The terminal can move its cursor, and somebody watches it: in CI each line is kept. */
  readonly cursor: boolean
  /** What a place inside a command logs is shown (SLUICE_LOG=info). */
  readonly logs: boolean
  /** The folder the person stands in, where npm started this in another one. */
  readonly stands_in?: string
  /** How a person types this CLI here: in a clone it is started through npm. */
  readonly command: string
}

/** Empty variables count as not set, a bad one is exit code 2; NO_COLOR by its own rule: set and not empty (no-color.org). */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const present = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '')
  const read: Environment = Object.fromEntries(present)
  const { SLUICE_URL, SLUICE_TOKEN, SLUICE_LOG, INIT_CWD } = read
  const url = SLUICE_URL === undefined ? undefined : readUrl(SLUICE_URL)
  if (SLUICE_LOG !== undefined && !['info', 'error'].includes(SLUICE_LOG)) throw bad('SLUICE_LOG must be info or error')
  return {
    ...(url !== undefined && { url }),
    ...(SLUICE_TOKEN !== undefined && { token: SLUICE_TOKEN }),
    ...colorOf(read),
    cursor: read.TERM !== 'dumb' && (read.CI === undefined || read.CI === 'false'),
    logs: SLUICE_LOG === 'info',
    ...(isOwnScript(read) && INIT_CWD !== undefined && { stands_in: INIT_CWD }),
    command: isNpmScript(read) ? npmCommand(read) : isNpx(read) ? 'npx sluice' : 'sluice',
  }
}

/** Without what a URL parser leaves out by itself. */
function readUrl(given: string): string {
  const url = given.trim().replace(/[\t\n\r]/g, '')
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url
  throw bad('SLUICE_URL must be an http or https URL')
}

function bad(seen: string) {
  return usageError(`Cannot use the environment: ${seen}.`)
}

/** FORCE_COLOR comes first, as in Node itself: 0 or false is no colour, anything else is colour everywhere. */
function colorOf({ FORCE_COLOR, NO_COLOR, TERM }: Environment) {
  if (FORCE_COLOR === '0' || FORCE_COLOR === 'false') return { color: false }
  if (FORCE_COLOR !== undefined) return { color: true, forceColor: true } as const
  return { color: NO_COLOR === undefined && TERM !== 'dumb' }
}

function isNpmScript({ npm_command, npm_lifecycle_event = '' }: Environment): boolean {
  return npm_command?.startsWith('run') === true && /^(?:sluice|demo(?::.+)?)$/.test(npm_lifecycle_event)
}

/** From another folder, and from a package of its own inside the clone, npm has to be told where the clone is. */
function npmCommand({ INIT_CWD, npm_package_json }: Environment): string {
  const clone = npm_package_json === undefined ? undefined : dirname(npm_package_json)
  const isInside = INIT_CWD === undefined || clone === undefined || isOfPackage(INIT_CWD, clone)
  return isInside ? 'npm run -s sluice --' : `npm run -s --prefix ${quotedWord(clone)} sluice --`
}

function isOfPackage(folder: string, root: string): boolean {
  if (folder === root) return true
  if (!`${folder}${sep}`.startsWith(`${root}${sep}`) || existsSync(join(folder, 'package.json'))) return false
  return isOfPackage(dirname(folder), root)
}

/** As a shell reads it as one word. */
export function quotedWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** `npm run sluice` in a clone. A project's script of another name means the project's folder. */
function isOwnScript({ npm_command, npm_lifecycle_event }: Environment): boolean {
  return npm_command?.startsWith('run') === true && npm_lifecycle_event === 'sluice'
}

/** Not what a program that npx runs starts in its turn, for example a test. */
function isNpx({ npm_command, npm_lifecycle_script = '' }: Environment): boolean {
  return npm_command === 'exec' && /^["']?sluice\b/.test(npm_lifecycle_script)
}

/**
 * A process started with a channel (by sluice.mjs on an older Node, by scripts/install-if-needed.mjs) stops as on
 * SIGTERM when the one that started it is gone, however that ended. Without a channel nothing changes.
 */
export function endWithParent(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // Listening alone must not keep a finished process alive.
  process.channel?.unref()
}
