import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { kill, killDescendants, killMarked, type ProcessWatch, streamsOf } from './process-tree.ts'
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

/** The program of that process, as its sources. */
export const RUNNER = new URL('./run-step.ts', import.meta.url)

/**
 * The process of one attempt (run-step.ts), the first of a group of its own, and the channel to it. Of the environment of
 * this process it has nothing but what is declared, and what finds programs and files. `folder`: of this attempt alone;
 * `only`: the module is loaded and says what it is.
 */
export async function startProcess(
  folder: string,
  { code, env, memory_mb }: StepEquipment,
  { runner = RUNNER, only = [] }: { readonly runner?: URL | undefined; readonly only?: readonly 'describe'[] } = {},
): Promise<StepProcess> {
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
  // While it is sure to be there: a process that has ended tells nothing.
  return { child, channel, folder, marks: streamsOf(child.pid ?? 0) }
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

/** A process of an attempt, and by what it and all it started are known. */
export interface StepProcess {
  readonly child: ChildProcess
  readonly channel: Duplex
  readonly folder: string
  readonly marks: ReturnType<typeof streamsOf>
}

/** Ends the group, and on Linux what left it: whatever still bears a mark of this attempt. `watch`: of its processes. */
export async function killAll({ child: { pid }, folder, marks }: StepProcess, watch?: ProcessWatch): Promise<void> {
  if (pid === undefined) return
  killDescendants(pid)
  kill(-pid)
  await killMarked({ ...(await marks), watch, folder, variable: `${MARK}=${basename(folder)}` })
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

/** Takes the folder of an attempt away, whatever lies there. What cannot be removed stays: no attempt is lost by it. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    // Folders that nobody may write to, as a cache of Go modules has them.
    await openFolders(folder)
    await remove().catch(() => undefined)
  })
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries.filter((one) => one.isDirectory())) await openFolders(join(folder, entry.name))
}
