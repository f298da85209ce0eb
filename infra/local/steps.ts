import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import type { Clock, Log } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { isModulePath, type KnownSteps } from '../../shared/steps/described-step.ts'
import { settingsOfStep } from '../../shared/steps/settings.ts'
import type { StepOrder, StepReport, StepStart } from '../../shared/steps/step-order.ts'
import type { StepCode, Steps } from '../../shared/steps/steps-port.ts'

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
export function createSteps(parts: Parts): Steps & { close(): Promise<void> } {
  const { settings, clock, log, objects } = parts
  const root = settings.project_dir ?? process.cwd()
  const kept = join(settings.data_dir, 'steps')
  const under = new Set<Promise<void>>()
  const over = new AbortController()
  let opened: ReturnType<typeof loadProject> | undefined
  const project = () => {
    opened ??= loadProject(root, settings)
    return opened
  }
  const equip = async (order: StepOrder) => ({
    code:
      order.kind === 'module' ? await keptModule(kept, order) : await sameProgram(parts, root, await project(), order),
    ...givenTo(parts, order.name),
  })
  return {
    async describe(names) {
      const known = await (await project()).describe(names)
      await keepModules(kept, await project(), known)
      return known
    },
    async start(_step: StepCode, start: StepStart) {
      const { followStep } = await import('../../functions/steps/follow-step.ts')
      const report = async (said: StepReport) => {
        const { go_on } = (await parts.invoke('report-step', said)) as { readonly go_on: boolean }
        return go_on
      }
      const place = { objects, equip, report, look_ms: LOOK_MS, now: () => clock.now(), signal: over.signal }
      const following: Promise<void> = followStep(start, place)
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

async function loadProject(root: string, settings: Settings) {
  const { openProjectSteps } = await import('../modules/project-steps.ts')
  return openProjectSteps(root, settings)
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
    const message = `Cannot run step "${name}": the code this run began with (${hash.slice(0, 12)}) is not in the data folder any more. Retry the run: it takes the code of today.`
    throw new Fault('InvalidInput', 'step_code_gone', message, { cause })
  }
}

async function sameProgram({ settings }: Parts, cwd: string, project: Project, { name, hash }: StepOrder) {
  const now = project.programHash(name)
  if (now === hash) return { exec: settings.programs[name]?.exec ?? [], cwd }
  const message = `Cannot run program "${name}": its files have changed since this run began (${hash.slice(0, 12)}, now ${now.slice(0, 12)}). Retry the run: it takes the code of today.`
  throw new Fault('InvalidInput', 'step_code_gone', message)
}

function givenTo({ settings, keys }: Parts, name: string) {
  const { env, secrets, memory_mb } = settingsOfStep(settings, name)
  const values = Object.entries(secrets).map(([as, { env: variable = '' }]) => {
    const value = keys.get(variable)
    if (value !== undefined && value !== '') return [as, value] as const
    const seen = variable === '' ? 'it is only where AWS keeps it' : `environment variable ${variable} is not set`
    const message = `Cannot run step "${name}": its secret ${as} is missing: ${seen}. Set it and start the place again.`
    throw new Fault('InvalidInput', 'step_secret_missing', message)
  })
  return { env, secrets: Object.fromEntries(values), memory_mb }
}

/** The environment variables that hold secrets of steps. */
export function stepSecretNames({ steps }: Settings): readonly string[] {
  return Object.values(steps).flatMap(({ secrets }) => Object.values(secrets).flatMap(({ env }) => env ?? []))
}
