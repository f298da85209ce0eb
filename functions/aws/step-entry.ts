import { readFileSync } from 'node:fs'
import { Fault } from '../../shared/errors.ts'
import type { KeyRef, Secrets } from '../../shared/ports/secrets.ts'
import type { StepOrder, StepStart } from '../../shared/steps/step-order.ts'
import { followStep } from '../steps/follow-step.ts'
import type { StepEquipment } from '../steps/step-process.ts'
import { createLog, environment, lambdaClock } from './core.ts'
import { readEnvironment } from './entry.ts'
import { functionCall } from './function-calls.ts'
import { openObjects } from './objects.ts'

/** What the bundle of a step's function says of it (infra/aws/steps-stack.ts). */
export interface BundledStep {
  readonly name: string
  readonly hash: string
  /** Of a program: its command. The files it was deployed with lie in `project/` beside the bundle. */
  readonly exec?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, KeyRef>>
  readonly memory_mb: number
  /** Its role may do something: the step is given the credentials of it. */
  readonly granted: boolean
}

interface Parts {
  readonly step: BundledStep
  /** The folder of the bundle, with a slash at its end. */
  readonly folder: URL
  readonly secrets: (core: { readonly clock: typeof lambdaClock }) => Secrets
}

/** A stop is seen so soon, ms: each look is a call of report-step. */
const LOOK_MS = 5_000
/** What report-step may take. */
const REPORT_MS = 28_000

/**
 * The function of a step: what it was invoked with is one attempt, whose work it does in a process of its own and whose
 * outcome report-step hears. It is invoked asynchronously, and never again by Lambda itself: a lost attempt is the record's
 * own matter.
 */
export function stepHandler({ step, folder, secrets }: Parts): (start: StepStart) => Promise<unknown> {
  const env = readEnvironment()
  const objects = openObjects({ env })
  const read = secrets({ clock: lambdaClock })
  const call = functionCall<{ readonly go_on: boolean }>({ env }, 'report-step')
  const log = createLog({ level: env.SLUICE_LOG, facts: { stage: env.STAGE, step: step.name } })
  return async (start) => {
    try {
      await followStep(start, {
        objects,
        runner: new URL('run-step.mjs', folder),
        look_ms: LOOK_MS,
        now: () => lambdaClock.now(),
        equip: (order) => equip({ step, folder }, read, order),
        report: async (report) => (await call(report, REPORT_MS)).go_on,
      })
    } catch (error) {
      log.error('a step could not be followed', { ...start.place, error: String(error) })
      throw error
    }
    return {}
  }
}

async function equip(
  { step, folder }: Omit<Parts, 'secrets'>,
  read: Secrets,
  order: StepOrder,
): Promise<StepEquipment> {
  const { name, hash, exec, memory_mb } = step
  if (order.hash !== hash) {
    const message = `Cannot run step "${name}": this version of its function has other code (${hash.slice(0, 12)}) than the run began with (${order.hash.slice(0, 12)}). Retry the run.`
    throw new Fault('InvalidInput', 'step_code_gone', message)
  }
  const code =
    exec === undefined
      ? {
          module: readFileSync(new URL('step.mjs', folder), 'utf8'),
          map: readFileSync(new URL('step.mjs.map', folder), 'utf8'),
        }
      : { exec, cwd: decodeURIComponent(new URL('project', folder).pathname) }
  const values = Object.entries(step.secrets).map(async ([as, { secret = '' }]) => [as, await read.read({ secret })])
  const given = { ...(step.granted ? roleCredentials() : {}), ...step.env }
  return { code, env: given, secrets: Object.fromEntries(await Promise.all(values)), memory_mb }
}

/** As Lambda hands them to a function: what an SDK in the step looks for. */
function roleCredentials(): Record<string, string> {
  const names = ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']
  return Object.fromEntries(
    names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  )
}
