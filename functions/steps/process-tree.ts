import { readFileSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { sep } from 'node:path'

/*
 * The processes of one attempt of a step, where /proc tells them (Linux). Elsewhere nothing is seen here, and what ends an
 * attempt is the end of its process group.
 */

/** When a process began, by its number: that alone may be another one's by now. */
type Began = Map<number, string>

/** What watching an attempt has seen of its processes so far. */
export interface ProcessWatch {
  stop(): void
  readonly seen: ReadonlyMap<number, string>
}

const LOOK_MS = 250

/**
 * Looks from time to time at a process and all it started: which they are, and their resident memory together. `over` gets
 * megabytes, where they are more than `most`.
 */
export function watchProcesses(pid: number | undefined, most: number, over: (mb: number) => void): ProcessWatch {
  const seen: Began = new Map()
  let busy = false
  const look = async () => {
    const mb = Math.round((await memoryBelow(pid ?? 0, seen)) / 1_048_576)
    busy = false
    if (mb > most) over(mb)
  }
  const timer = setInterval(() => {
    if (!busy) void look()
    busy = true
  }, LOOK_MS)
  return { stop: () => clearInterval(timer), seen }
}

const PAGE_BYTES = 4_096

async function memoryBelow(pid: number, seen: Began): Promise<number> {
  const [, pages = '0'] = (await read(pid, 'statm')).split(' ')
  const began = beganAt(await read(pid, 'stat'))
  if (began !== undefined) seen.set(pid, began)
  const children = numbers(await read(pid, `task/${pid}/children`))
  const below = await Promise.all(children.map((one) => memoryBelow(one, seen)))
  return below.reduce((sum, bytes) => sum + bytes, Number(pages) * PAGE_BYTES)
}

/** By what the processes of an attempt are known, wherever they went. */
export interface AttemptMarks {
  /** In the environment of what it started. */
  readonly variable: string
  /** Its own folder: somebody works there, or has a file of it open. */
  readonly folder: string
  /** What its process was given as standard output, standard error and channel. */
  readonly streams: readonly string[]
  /** When its process began: none of its others is older. */
  readonly began: string
  readonly watch?: Pick<ProcessWatch, 'seen'> | undefined
}

/** The streams of a process that was just started, and when that was. */
export async function streamsOf(pid: number): Promise<Pick<AttemptMarks, 'streams' | 'began'>> {
  // Where it has ended already, everybody is looked at.
  const began = beganAt(await read(pid, 'stat')) ?? '0'
  const streams = await Promise.all([1, 2, 3].map((fd) => link(pid, `fd/${fd}`)))
  return { streams: streams.filter((name) => /^(?:socket|pipe):/.test(name)), began }
}

/** Who may still start others while they are ended, one by one. */
const ROUNDS = 40

/** Ends every process that bears a mark of the attempt, until none is left. */
export async function killMarked(marks: AttemptMarks): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = await marked(marks)
    if (left.length === 0) return
    for (const pid of left) kill(pid)
  }
}

async function marked(marks: AttemptMarks): Promise<readonly number[]> {
  const pids = numbers((await readdir('/proc').catch(() => [])).join(' '))
  const found = await Promise.all(pids.map(async (pid) => ((await isMarked(pid, marks)) ? [pid] : [])))
  return found.flat()
}

async function isMarked(pid: number, marks: AttemptMarks): Promise<boolean> {
  const stat = await read(pid, 'stat')
  const began = beganAt(stat)
  // Who has ended and waits for its parent holds nothing.
  if (pid === process.pid || began === undefined || isDead(stat) || Number(began) < Number(marks.began)) return false
  if (marks.watch?.seen.get(pid) === began) return true
  if ((await read(pid, 'environ')).includes(marks.variable)) return true
  // A person who looks into the folder sits at a terminal; what a step starts has none.
  if (hasTerminal(stat)) return false
  const isOwn = (name: string) => name.startsWith(marks.folder + sep) || marks.streams.includes(name)
  if (isOwn(await link(pid, 'cwd'))) return true
  const open = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const names = await Promise.all(open.map((fd) => link(pid, `fd/${fd}`)))
  return names.some(isOwn)
}

/**
 * Ends all that a process started, in whatever group and session, and not the process itself. At once: whose parent has ended
 * is nobody's.
 */
export function killDescendants(pid: number): void {
  for (const one of descendants(pid)) kill(one)
}

function descendants(pid: number): readonly number[] {
  const children = numbers(readNow(`/proc/${pid}/task/${pid}/children`))
  return children.flatMap((one) => [one, ...descendants(one)])
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function numbers(text: string): readonly number[] {
  return text
    .split(' ')
    .filter((one) => /^\d+$/.test(one))
    .map(Number)
}

/** Field 22 of its stat, in ticks since the machine began; its name, field 2, may hold blanks and brackets. Source: proc(5). */
function beganAt(stat: string): string | undefined {
  return fieldsOf(stat)[19]
}

function isDead(stat: string): boolean {
  return ['Z', 'X'].includes(fieldsOf(stat)[0] ?? '')
}

/** Field 7: the number of its terminal. */
function hasTerminal(stat: string): boolean {
  return fieldsOf(stat)[4] !== '0'
}

/** From field 3 on. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function read(pid: number, name: string): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
}

function link(pid: number, name: string): Promise<string> {
  return readlink(`/proc/${pid}/${name}`).catch(() => '')
}

function readNow(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
