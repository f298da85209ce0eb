import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openBrowser } from '../place/console.ts'
import { readLogin } from '../place/local-login.ts'
import { type LocalPlace, type PlaceOptions, startPlace } from '../place/local-place.ts'
import { findProjectPlace } from '../place/project-place.ts'
import { asksForLogin, openToLines, readyWords, type StartOptions } from '../place/start.ts'
import type { Target } from '../server/api.ts'
import { readFileIfAny } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { type ExitCode, Refused, reasonLines } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { oneLine, plainText } from '../terminal/text.ts'
import { type CheckedProject, checkProject, problemLine, SETTINGS_FILE } from './check-project.ts'
import { openRerun, type Rerun } from './rerun.ts'
import { type SavedFiles, watchFiles } from './watch-files.ts'

export interface DevOptions extends Omit<StartOptions, 'example' | 'json'> {
  readonly open: boolean
  readonly rerun?: true
}

/**
 * The local place of the project in the working folder, until Ctrl-C. Each save is checked and told; documents, steps and
 * gates are read by each start anyway, and for new settings the place is opened again: its runs go on then.
 */
export async function runDev(session: Session, options: DevOptions): Promise<ExitCode> {
  const stop = untilStopped()
  const { dataDir } = await findProjectPlace()
  const saved = watchFiles(process.cwd(), [options.dataDir ?? dataDir], stop.signal)
  const dev: Dev = { session, options, stop, shown: new Map(), versions: new Map(), port: options.port, wasOpen: false }
  try {
    await takeUp(dev, [])
    for await (const files of saved.changes) await takeUp(dev, files)
    return dev.failed ?? 0
  } finally {
    await dev.rerun?.close()
    await dev.open?.place.stop()
    stop.forget()
  }
}

interface Dev {
  readonly session: Session
  readonly options: DevOptions
  readonly stop: ReturnType<typeof untilStopped>
  /** What was said last of each file. */
  readonly shown: Map<string, string>
  /** Of each document, as it was valid last. */
  readonly versions: Map<string, string>
  /** The one it was given at first: pages and commands find it there again. */
  port: number | undefined
  wasOpen: boolean
  open?: { readonly place: LocalPlace; readonly settings: string }
  rerun?: Rerun
  failed?: ExitCode
}

/** What was saved is checked, said, and in the place; empty: all of it, at the start. */
async function takeUp(dev: Dev, files: SavedFiles): Promise<void> {
  await dev.rerun?.pause()
  const project = checkProject()
  sayChecked(dev, project, files)
  await openWithSettings(dev, project)
  const { length } = project.problems
  const then = dev.open === undefined ? 'Nothing runs before they are mended.' : 'What is running goes on.'
  if (length > 0) dev.session.say(`${count(length, 'problem')}. ${then}`)
  dev.open?.place.tell(project.problems)
  await dev.rerun?.take(project.documents)
}

/** Of the files that were saved, and of each of which now something else is to be said. */
function sayChecked({ session, shown }: Dev, { files }: CheckedProject, saved: SavedFiles): void {
  if (saved.length > 0) session.say(savedLine(saved))
  for (const checked of files) {
    const said = checkedWords(checked)
    if (shown.get(checked.file) !== said || saved.includes(checked.file)) session.say(said)
    shown.set(checked.file, said)
  }
  for (const file of shown.keys()) if (!files.some((one) => one.file === file)) shown.delete(file)
}

function savedLine(saved: SavedFiles): string {
  const time = new Date().toTimeString().slice(0, 8)
  return oneLine(`${time} saved ${saved.slice(0, 5).join(', ')}${saved.length > 5 ? ' ..' : ''}`)
}

function checkedWords({ file, problems, warnings, order }: CheckedProject['files'][number]): string {
  const blocks = order.length === 0 ? '' : `: ${order.join(', ')}`
  const lines = problems.length > 0 ? problems.map(problemLine) : [`${file} is valid${blocks}`, ...warnings]
  return lines.map(plainText).join('\n')
}

/** The place is opened with the first settings that are good, and again with each that are others. */
async function openWithSettings(dev: Dev, { files }: CheckedProject): Promise<void> {
  const settings = readFileIfAny(SETTINGS_FILE, 'settings') ?? ''
  const isBad = files.some(({ file, problems }) => file === SETTINGS_FILE && problems.length > 0)
  if (isBad || dev.open?.settings === settings) return
  const before = dev.open
  if (before !== undefined) {
    dev.session.say('The settings are others: the place is opened again with them, and its runs go on.')
    delete dev.open
    await before.place.stop()
  }
  const place = await openPlace(dev)
  if (place === undefined) return
  dev.open = { place, settings }
  dev.port = Number(new URL(place.url).port)
  dev.wasOpen = true
  void place.ended.then((code) => diedItself(dev, place, code))
  if (before === undefined) await sayOpen(dev, place)
  await dev.rerun?.close()
  if (dev.options.rerun !== true) return
  const { session, versions, stop } = dev
  dev.rerun = openRerun({ session, target: targetOf(place), versions, left: stop.now })
}

/**
 * Settings that this place refuses are mended and saved. A port that was free at first may be held for a moment by who
 * listened there; one that nobody chose may be another then. Anything else ends the command.
 */
async function openPlace(dev: Dev, tries = 0): Promise<LocalPlace | undefined> {
  try {
    return await startPlace(placeOptions(dev, tries))
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { code } = error.reason
    if (code === 'port_taken' && dev.wasOpen && tries < PORT_TRIES) {
      await delay(PORT_PAUSE_MS)
      return await openPlace(dev, tries + 1)
    }
    if (code !== 'bad_settings') throw error
    for (const line of reasonLines(error.reason, dev.session.settings.command)) dev.session.say(line)
    return undefined
  }
}

function placeOptions({ options, port }: Dev, tries: number): PlaceOptions {
  const { open: _, rerun: __, ...given } = options
  const at = options.port === 0 && tries === PORT_TRIES ? 0 : port
  return { ...given, ...(at !== undefined && { port: at }), login: asksForLogin(options), logs: true }
}

const PORT_TRIES = 10
const PORT_PAUSE_MS = 300

function targetOf({ url, dataDir }: LocalPlace): Target {
  const secret = readLogin(dataDir, url)?.secret
  return { url, named: false, ...(secret === undefined ? {} : { token: secret, login: true as const }) }
}

async function sayOpen({ session, options }: Dev, place: LocalPlace): Promise<void> {
  session.place = await findProjectPlace()
  for (const line of readyWords(place, resolve(session.place.dataDir))) session.say(line)
  for (const line of openToLines(place)) session.warn(line)
  session.say('Documents, steps, gates and settings are checked and taken as they are saved.')
  if (options.open && session.terminal) await openBrowser(place.consoleUrl ?? `${place.url}/`)
}

function diedItself(dev: Dev, place: LocalPlace, code: number): void {
  if (dev.open?.place !== place || dev.stop.signal.aborted) return
  dev.session.warn(`The place ended with code ${code}. Its data is kept in ${place.dataDir}: start it again to go on.`)
  delete dev.open
  dev.failed = 1
  dev.stop.now()
}

function untilStopped() {
  const control = new AbortController()
  const now = () => control.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, now)
  return {
    signal: control.signal,
    now,
    forget() {
      for (const signal of signals) process.off(signal, now)
    },
  }
}
