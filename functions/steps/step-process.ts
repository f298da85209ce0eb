import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { StepContainer, StepProgram } from './step-messages.ts'

/** What a place gives a step besides its order. */
export interface StepEquipment {
  /** The text of its module; of a program its command and where that is started. */
  readonly code:
    | { readonly module: string; readonly map?: string }
    | (Pick<StepProgram, 'exec' | 'cwd'> & { readonly container?: StepContainer })
  readonly env: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  readonly memory_mb: number
}

/** Stands in the command of a container for the folder of its attempt. */
export const ATTEMPT_FOLDER = '{{attempt_folder}}'

const RUNNER = new URL('./run-step.ts', import.meta.url)

/**
 * The process of one attempt (run-step.ts), the first of a group of its own, and the channel to it. Of the environment of
 * this process it has nothing but what is declared, and what finds programs and files. `folder`: of this attempt alone;
 * `only`: the module is loaded and says what it is.
 */
export async function startProcess(
  folder: string,
  { code, env, memory_mb }: StepEquipment,
  { runner = RUNNER, only = [] }: { readonly runner?: URL | undefined; readonly only?: readonly 'describe'[] } = {},
) {
  for (const name of ['tmp', 'files', 'artifacts']) await mkdir(join(folder, name))
  const module = join(folder, 'step.mjs')
  if ('module' in code) {
    await writeFile(module, code.map === undefined ? code.module : `${code.module}//# sourceMappingURL=step.mjs.map\n`)
    if (code.map !== undefined) await writeFile(`${module}.map`, code.map)
  }
  const heap = `--max-old-space-size=${memory_mb}`
  const child = spawn(process.execPath, [heap, ...NODE_OPTIONS, fileURLToPath(runner), module, ...only], {
    cwd: join(folder, 'tmp'),
    env: { ...stepEnvironment(folder), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const channel = child.stdio[3] as Duplex
  channel.on('error', () => undefined)
  return { child, channel }
}

const NODE_OPTIONS = ['--enable-source-maps', '--disable-warning=ExperimentalWarning']

export function stepEnvironment(folder: string): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    TMPDIR: join(folder, 'tmp'),
    LANG: 'C.UTF-8',
    [MARK]: basename(folder),
  }
}

/** By this what a step started is found, wherever it went. */
const MARK = 'SLUICE_STEP'

/** Ends the group, and on Linux what left it: whatever still carries the mark of this attempt. */
export async function killAll({ pid }: ChildProcess, folder: string): Promise<void> {
  if (pid !== undefined) kill(-pid)
  for (let round = 0; round < 3; round += 1) {
    const left = await marked(basename(folder))
    if (left.length === 0) return
    for (const one of left) kill(one)
  }
}

/** The container of an attempt, whoever started it: what has ended is not there any more. */
export async function endContainer({ code }: StepEquipment): Promise<void> {
  const [command, ...args] = 'container' in code ? (code.container?.kill ?? []) : []
  if (command === undefined) return
  await new Promise<void>((resolve) => {
    execFile(command, args, { env: stepEnvironment('/'), timeout: KILL_MS }, () => resolve())
  })
}

const KILL_MS = 10_000

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

async function marked(id: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => [])
  const found: number[] = []
  for (const name of names.filter((one) => /^\d+$/.test(one))) {
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')
    if (environment.includes(`${MARK}=${id}`)) found.push(Number(name))
  }
  return found
}

const MEMORY_LOOK_MS = 250

/** Looks at the resident memory of the process and all it started, where /proc tells it (Linux); `over` gets megabytes. */
export function watchMemory({ pid }: ChildProcess, most: number, over: (mb: number) => void) {
  let busy = false
  const look = async () => {
    const mb = Math.round((await memoryBelow(pid ?? 0)) / 1_048_576)
    busy = false
    if (mb > most) over(mb)
  }
  const timer = setInterval(() => {
    if (!busy) void look()
    busy = true
  }, MEMORY_LOOK_MS)
  return { stop: () => clearInterval(timer) }
}

const PAGE_BYTES = 4_096

async function memoryBelow(pid: number): Promise<number> {
  const [, pages = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')).split(' ')
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).split(' ')
  const below = await Promise.all(children.filter((one) => one !== '').map((one) => memoryBelow(Number(one))))
  return below.reduce((sum, bytes) => sum + bytes, Number(pages) * PAGE_BYTES)
}
