import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCallName } from '../../shared/dag/native-call.ts'
import { Fault } from '../../shared/errors.ts'
import type { Clock, Log } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import type { KeyRef } from '../../shared/ports/secrets.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { isModulePath, type KnownSteps } from '../../shared/steps/described-step.ts'
import { findContainer } from '../../shared/steps/native-calls.ts'
import { settingsOfStep } from '../../shared/steps/settings.ts'
import { STEP_LIMITS, type StepOrder, type StepReport, type StepStart } from '../../shared/steps/step-order.ts'
import { holdsOneOf, type StepCode, type Steps } from '../../shared/steps/steps-port.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { Json } from '../../shared/text/json.ts'
import type { NativeCall } from './asl/execution-context.ts'
import { type ContainerEngine, describeContainer, findContainerEngine, runCommand } from './containers.ts'
import { describeCalls } from './describe-calls.ts'

interface Parts {
  readonly settings: Settings
  readonly objects: Pick<ObjectStore, 'get' | 'put'>
  /** Values of secrets, by the name of their environment variable. */
  readonly keys: ReadonlyMap<string, string>
  /** Calls a function of the catalog. */
  readonly invoke: (name: string, payload: unknown) => Promise<unknown>
  readonly clock: Clock
  readonly log: Log
}

/** A stop is seen so soon, ms. */
const LOOK_MS = 500

/**
 * The Steps port of this place: each attempt is a process of this machine, followed by this one. Modules are kept in the
 * data folder by their hash, as runs began with them; of a program the hash must still be the one of its files. What is
 * heavy is loaded with the first document that names a step.
 */
export function createSteps(parts: Parts): LocalSteps {
  const { settings, clock, log, objects } = parts
  const root = settings.project_dir ?? process.cwd()
  const kept = join(settings.data_dir, 'steps')
  const under = new Set<Promise<void>>()
  const over = new AbortController()
  let opened: ReturnType<typeof loadProject> | undefined
  let bundled: ReturnType<typeof loadRunner> | undefined
  const runner = () => {
    bundled ??= loadRunner(kept).catch((error: unknown) => {
      bundled = undefined
      throw error
    })
    return bundled
  }
  const project = async () => {
    const program = await runner()
    opened ??= loadProject(root, settings, program)
    return opened
  }
  let engine: ReturnType<typeof findContainerEngine> | undefined
  const containers = () => {
    engine ??= findContainerEngine(settings)
    return engine
  }
  const equip = async (order: StepOrder) => {
    if (order.kind === 'container') return equipContainer(parts, root, await containers(), order)
    const code =
      order.kind === 'module' ? await keptModule(kept, order) : await sameProgram(parts, root, await project(), order)
    return { code, ...givenTo(parts, order.name) }
  }
  const report = async (said: StepReport) => {
    const { go_on } = (await parts.invoke('report-step', said)) as { readonly go_on: boolean }
    return go_on
  }
  const describeSteps = async (names: readonly string[]) => {
    if (names.length === 0) return {}
    const known = await (await project()).describe(names)
    await keepModules(kept, await project(), known)
    return known
  }
  return {
    describe: (names) => describeCalls(settings, names, { containers, describeSteps }),
    holdsSecret: async (texts) => holdsOneOf(parts.keys.values(), texts),
    // Read by what stands in for a container, and by the container of this machine.
    task: async ({ name, command_args }) => ({ container: name, command_args: [...command_args] }),
    // What ran here told its outcome itself.
    collect: async () => undefined,
    async call(call, signal) {
      const { makeCall } = await import('./stand-ins.ts')
      const place = { objects, equip, report, clock, look_ms: LOOK_MS, runner: await runner() }
      return makeCall(call, place, AbortSignal.any([signal, over.signal]))
    },
    async start(_step: StepCode, start: StepStart) {
      const { followStep } = await import('../../functions/steps/follow-step.ts')
      const place = { objects, equip, report, look_ms: LOOK_MS, now: () => clock.now(), signal: over.signal }
      const following: Promise<void> = runner()
        .then((program) => followStep(start, { ...place, runner: program }))
        .catch((error: unknown) => log.error('a step could not be followed', { ...start.place, error: String(error) }))
        .finally(() => under.delete(following))
      under.add(following)
    },
    async close() {
      over.abort()
      await Promise.all(under)
    },
  }
}

/** What this place has besides the port: calls of AWS that the machine makes, and its end. */
interface LocalSteps extends Steps {
  call(call: NativeCall, signal: AbortSignal): Promise<Json>
  close(): Promise<void>
}

/** What a container of this machine is given. Fault InvalidInput step_code_gone: it is another one now. */
function equipContainer(parts: Parts, cwd: string, engine: ContainerEngine, order: StepOrder) {
  const call = readCallName(order.name)
  const name = call?.handler === 'container' ? call.name : ''
  const made = findContainer(parts.settings, name)
  const now = describeContainer(parts.settings, name, engine)
  if ('problem' in made || 'problem' in now || 'missing' in engine || now.hash !== order.hash) {
    const message = `Cannot run container "${name}": it is not the one this run began with any more, or nothing here runs it. Retry the run.`
    throw new Fault('InvalidInput', 'step_code_gone', message)
  }
  const { command } = engine
  const id = `sluice-${sha256(order.key).slice(0, 24)}`
  const { command_args = [] } = (order.inputs.parameters ?? {}) as { readonly command_args?: readonly string[] }
  const exec = runCommand(command, made.found, { name: id, args: command_args })
  const secrets = secretsOf(parts, `container "${name}"`, made.found.secrets)
  // Of the command that runs it: the container has a limit of its own.
  const own = { env: {}, secrets, memory_mb: STEP_LIMITS.memory_mb }
  return { code: { exec, cwd, container: { kill: [command, 'kill', id] } }, ...own }
}

async function loadProject(root: string, settings: Settings, runner: URL) {
  const { openProjectSteps } = await import('../modules/project-steps.ts')
  return openProjectSteps(root, settings, runner)
}

async function loadRunner(folder: string): Promise<URL> {
  const { bundleRunner } = await import('../modules/step-runner.ts')
  return await bundleRunner(folder)
}

type Project = Awaited<ReturnType<typeof loadProject>>

/** Written whole or not at all: a run goes on with what it began with after any end of this process. */
async function keepModules(folder: string, project: Project, known: KnownSteps): Promise<void> {
  for (const [name, step] of Object.entries(known)) {
    if ('problem' in step || !isModulePath(name) || existsSync(join(folder, `${step.hash}.mjs`))) continue
    await mkdir(folder, { recursive: true })
    const { text, hash, map } = await project.module(name)
    for (const [ending, body] of [
      ['mjs.map', map],
      ['mjs', text],
    ] as const) {
      const file = join(folder, `${hash}.${ending}`)
      await writeFile(`${file}.new`, body)
      await rename(`${file}.new`, file)
    }
  }
}

async function keptModule(folder: string, { name, hash }: StepOrder) {
  const file = join(folder, `${hash}.mjs`)
  try {
    return { module: await readFile(file, 'utf8'), map: await readFile(`${file}.map`, 'utf8') }
  } catch (cause) {
    const message = `Cannot run step "${name}": the code this run began with (${hash.slice(0, 12)}) is not in the data folder any more. Retry the run: a retry takes the code as it is now.`
    throw new Fault('InvalidInput', 'step_code_gone', message, { cause })
  }
}

async function sameProgram({ settings }: Parts, cwd: string, project: Project, { name, hash }: StepOrder) {
  const now = project.programHash(name)
  if (now === hash) return { exec: settings.programs[name]?.exec ?? [], cwd }
  const message = `Cannot run program "${name}": its files have changed since this run began (${hash.slice(0, 12)}, now ${now.slice(0, 12)}). Retry the run: a retry takes the code as it is now.`
  throw new Fault('InvalidInput', 'step_code_gone', message)
}

function givenTo(parts: Parts, name: string) {
  const { env, secrets, memory_mb } = settingsOfStep(parts.settings, name)
  return { env, secrets: secretsOf(parts, `step "${name}"`, secrets), memory_mb }
}

function secretsOf({ keys }: Parts, who: string, secrets: Readonly<Record<string, KeyRef>>): Record<string, string> {
  const values = Object.entries(secrets).map(([as, { env: variable = '' }]) => {
    const value = keys.get(variable)
    if (value !== undefined && value !== '') return [as, value] as const
    const seen = variable === '' ? 'it is only where AWS keeps it' : `environment variable ${variable} is not set`
    const message = `Cannot run ${who}: its secret ${as} is missing: ${seen}. Set it and start the place again.`
    throw new Fault('InvalidInput', 'step_secret_missing', message)
  })
  return Object.fromEntries(values)
}

/** The environment variables that hold secrets of steps and containers. */
export function stepSecretNames({ steps, containers }: Settings): readonly string[] {
  return [...Object.values(steps), ...Object.values(containers)].flatMap(({ secrets }) =>
    Object.values(secrets).flatMap(({ env }) => env ?? []),
  )
}
