import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { useEgress } from '../../functions/egress/egress.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { placeProxy } from '../../shared/egress/proxy.ts'
import { Fault } from '../../shared/errors.ts'
import type { Health } from '../../shared/ports/health.ts'
import type { Clock, Log } from '../../shared/ports/host.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import { type Settings, withLocalPeople } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import { assembleLocalWorld } from './assemble-world.ts'
import { createLog, systemClock } from './clock-and-log.ts'
import { allCommitted, commitsDone, openDatabase, storeFault } from './database.ts'
import { createDropWatch } from './drops.ts'
import type { Host } from './host.ts'
import { localPrincipal, removeLoginSecrets } from './login.ts'
import { missingKeys } from './ports-with-keys.ts'
import { type ServedPlace, servePlace } from './server.ts'
import { startSweeps } from './sweep.ts'

export interface PlaceOptions {
  /** Serve HTTP on settings.port. Default: in-process only. */
  readonly listen?: boolean
  /**
   * The folder is only looked at, by one command: no run goes on, nothing is swept, and nobody else finds the place. Whose
   * folder it is may read it, whatever login the settings ask for.
   */
  readonly reads?: boolean
  /** It ends with the one command it is for: others may look there, and start nothing there. */
  readonly inside?: boolean
  /** What is wrong with the files of a project that somebody watches (`sluice dev`). */
  readonly project?: Health['project']
  /** Every call is asked for a secret this start makes. Default: only a login of the settings is asked for. */
  readonly login?: boolean
  readonly clock?: Clock
  readonly log?: Log
  /** Further provider adapters by name. */
  readonly providers?: Readonly<Record<string, Provider>>
  /** Keys of providers and of Slack, by the name of `env` in the settings. */
  readonly keys?: ReadonlyMap<string, string>
  /** Milliseconds between two sweeps, default 1,000; 0 = the caller invokes `sweep` itself (virtual time). */
  readonly sweep_ms?: number
  /** Folder of the built console; default: the one this package was built with. */
  readonly console_dir?: string
}

/** An open place: its World, its address when it listens, and its functions by name. */
export interface Place {
  readonly world: World
  readonly url?: string
  /** Where its start made a secret: the address that opens the console, and the file commands read. */
  readonly opened?: ServedPlace['opened']
  /** Calls a function of the catalog as the local user; routes take API Gateway's event. */
  invoke(name: string, payload: unknown, signal?: AbortSignal): Promise<unknown>
  /** Stops cleanly; runs stay as they are and go on when the place is opened again. */
  close(): Promise<void>
}

/**
 * Opens the local place on a data folder: lock, database, World, server, then unfinished executions go on. When a step
 * fails the ones before it are undone and its Fault is thrown: folder_in_use, bad_data_dir, port_taken, those of the
 * database.
 */
export async function openPlace(settings: Settings, options: PlaceOptions = {}): Promise<Place> {
  const undo: (() => void | Promise<void>)[] = []
  const close = async () => {
    const failed: unknown[] = []
    // A disk that refuses keeps nothing else open: neither the folder nor the processes of this place.
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      try {
        await step()
      } catch (error) {
        failed.push(error)
      }
    }
    if (failed.length > 0) throw failed[0]
  }
  try {
    return { ...(await openSteps(settings, options, (step) => undo.push(step))), close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

async function openSteps(
  given: Settings,
  options: PlaceOptions,
  undone: (step: () => void | Promise<void>) => void,
): Promise<Omit<Place, 'close'>> {
  const { clock = systemClock, log = createLog(false), providers = {}, keys = new Map(), sweep_ms = 1_000 } = options
  const principal = localPrincipal()
  const reads = options.reads === true
  const settings = settingsHere(given, principal, options)
  makeFolder(settings.data_dir)
  undone(lockFolder(settings.data_dir, reads))
  removeLoginSecrets(settings.data_dir)
  const db = openDatabase(settings.data_dir, settings.durability)
  undone(async () => {
    await commitsDone(db)
    db.close()
  })
  const address = {
    url: settings.public_url ?? (settings.port === 0 ? undefined : `http://127.0.0.1:${settings.port}`),
  }
  if (!reads) undone(useEgress(settings.egress, placeProxy(settings, keys)))
  const engine = await assembleLocalWorld({ settings, db, clock, log, providers, keys, address, ...watched(options) })
  undone(() => engine.close())
  const { host, world } = engine
  const kept = () => allCommitted(db)
  const served = {
    settings,
    host,
    world,
    principal,
    kept,
    consoleDir: options.console_dir,
    asks: options.login === true,
  }
  const server = options.listen === true ? await servePlace(served) : undefined
  if (server !== undefined) undone(() => server.close())
  address.url = settings.public_url ?? server?.url ?? address.url
  if (reads) return { world, ...servedAt(server), invoke: callerOf(host, principal, kept) }
  if (server !== undefined) undone(tellAddress(settings.data_dir, server.url, options.inside === true))
  for (const words of missingKeys(settings, keys)) log.error(words)
  const resumed = await engine.resume()
  log.info('place opened', { url: server?.url, data_dir: settings.data_dir, runs_resumed: resumed })
  const sweep = () => host.invoke('sweep', {})
  const clear = () => host.invoke('clear-machines', {})
  const stays = server !== undefined && options.inside !== true
  const look = createDropWatch({ world, db, clock, log, take: (payload) => host.invoke('take-object', payload) })
  const fire = stays ? { fire: () => look().then(() => host.invoke('fire-triggers', {})) } : {}
  if (sweep_ms > 0) undone(startSweeps({ ms: sweep_ms, sweep, ...fire, clear, settings, db, clock, log }))
  return { world, ...servedAt(server), invoke: callerOf(host, principal, kept) }
}

function watched({ project }: PlaceOptions): Pick<PlaceOptions, 'project'> {
  return project === undefined ? {} : { project }
}

/** A place for one command starts nothing by itself. */
function settingsHere(given: Settings, principal: Principal, { reads, inside }: PlaceOptions): Settings {
  if (reads === true) return withLocalPeople(withoutLogin(given), principal)
  const settings = withLocalPeople(given, principal)
  return inside === true ? settings : { ...settings, told_ends: 'all' }
}

function withoutLogin({ auth: _, ...settings }: Settings): Settings {
  return { ...settings, port: 0 }
}

function servedAt(server: ServedPlace | undefined): Pick<Place, 'url' | 'opened'> {
  if (server === undefined) return {}
  return { url: server.url, ...(server.opened === undefined ? {} : { opened: server.opened }) }
}

function callerOf(host: Host, principal: Principal, kept: () => Promise<void> | undefined): Place['invoke'] {
  return async (name, payload, signal) => {
    const answer = await host.invoke(name, payload, signal === undefined ? { principal } : { principal, signal })
    await kept()
    return answer
  }
}

/** Where commands in its project look for this place first, whatever port it was given. Answers how to take it back. */
function tellAddress(dataDir: string, url: string, inside: boolean): () => void {
  const file = join(dataDir, 'address')
  const text = JSON.stringify({ url, pid: process.pid, ...(inside ? { inside } : {}) })
  writeFileSync(file, `${text}\n`, { mode: 0o600 })
  return () => rmSync(file, { force: true })
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    closeToOthers(dir)
  } catch (cause) {
    const message = `Cannot use data folder "${dir}": ${(cause as Error).message}. Choose another with --data-dir.`
    throw new Fault('InvalidInput', 'bad_data_dir', message, { cause })
  }
}

/**
 * What runs hold is nobody else's: a folder that an older version made, or that was copied, is closed, and the files this
 * place writes in it. Where the folder is closed already nothing below it can be reached, and nothing is looked at.
 */
function closeToOthers(dir: string): void {
  const { mode, uid } = statSync(dir)
  // Whose folder it is not may not change it: the operating system keeps it as its owner wants.
  if (process.platform === 'win32' || (mode & 0o077) === 0 || uid !== process.getuid?.()) return
  chmodSync(dir, 0o700)
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.isFile() && OWN_FILES.test(entry.name)) chmodSync(join(dir, entry.name), 0o600)
    else if (entry.isDirectory() && entry.name === 'objects') closeAll(join(dir, entry.name))
  }
}

/** The folder may hold somebody's other files too: those stay as they are. */
const OWN_FILES = /^(sluice\.db|index[\w.-]*\.db|lock|address|first-token|login-)/

function closeAll(dir: string): void {
  chmodSync(dir, 0o700)
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o700)
    else if (entry.isFile()) chmodSync(path, 0o600)
  }
}

/**
 * One process a data folder. `lock` is an empty SQLite file held with an exclusive lock of the operating system: it
 * goes away with the process however that ends, so there is no stale lock to judge and a reused pid deceives nobody.
 * `lock.pid` beside it only names the holder for the refusal (Fault Conflict folder_in_use). Answers the release. Another
 * file in its place is a Fault of the store: not_our_database, store_unavailable. Who only reads leaves no name: that is
 * over soon, and waited for.
 */
function lockFolder(dataDir: string, reads: boolean): () => void {
  const file = join(dataDir, 'lock')
  const pidFile = join(dataDir, 'lock.pid')
  const lock = locked(file, existsSync(pidFile) ? 0 : READING_MS, (cause) => inUse(dataDir, pidFile, cause))
  if (reads) rmSync(pidFile, { force: true })
  else writeFileSync(pidFile, String(process.pid), { mode: 0o600 })
  return () => {
    rmSync(pidFile, { force: true })
    lock.close()
  }
}

/** What is waited for a holder without a name: it reads, or has just begun. */
const READING_MS = 5_000

function locked(file: string, waitMs: number, inUse: (cause: unknown) => Fault): DatabaseSync {
  let lock: DatabaseSync | undefined
  try {
    closeSync(openSync(file, 'a', 0o600))
    lock = new DatabaseSync(file)
    lock.exec(`PRAGMA busy_timeout = ${waitMs}; PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE`)
    return lock
  } catch (cause) {
    lock?.close()
    const fault = storeFault(cause, `lock "${file}"`)
    throw fault.code === 'store_busy' ? inUse(cause) : fault
  }
}

function inUse(dataDir: string, pidFile: string, cause: unknown): Fault {
  const pid = holderOf(pidFile)
  const holder = pid === undefined ? 'another process' : `process ${pid}`
  const message = `Cannot use data folder "${dataDir}": ${holder} is using it. Stop that process, or choose another folder with --data-dir.`
  return new Fault('Conflict', 'folder_in_use', message, { facts: pid === undefined ? {} : { pid }, cause })
}

/** The file is written just after the lock is taken: for that moment the holder has no name. */
function holderOf(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
