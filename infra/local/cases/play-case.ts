import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { createIsolate } from '../../../functions/isolate/isolate-pool.ts'
import type { JudgeCheck } from '../../../shared/cases/judge-case.ts'
import type { PlayedCall, PlayedCase } from '../../../shared/cases/played-case.ts'
import { Fault, type Issue } from '../../../shared/errors.ts'
import { judgeGate } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { gateKinds, readProjectGates, scriptsOf } from '../../../shared/gates/project-gates.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { isRunEnd } from '../../../shared/runs/event-types.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import {
  FileSettingsSchema,
  type Settings,
  SettingsSchema,
  withLocalPeople,
} from '../../../shared/settings/settings.ts'
import { durationWords } from '../../../shared/text/duration.ts'
import { folderModules } from '../../modules/project-gates.ts'
import { assembleLocalWorld } from '../assemble-world.ts'
import { openDatabase } from '../database.ts'
import { type Act, openActs } from './acts.ts'
import { eventsOf, openQuestions, type Play, type Playing, route, START, TENANT, TESTER } from './playing.ts'
import { readPlayed } from './read-played.ts'
import { scriptedPorts } from './scripted-ports.ts'
import { openVirtualTime } from './virtual-time.ts'

/** Virtual time after which a case that waits is given up, in days: longer than any wait of a document. */
const PATIENCE_DAYS = 400
/** Times the clock goes on in one case. */
const MOST_STEPS = 20_000

/** Of all cases of this process: its children take longer to start than most cases. They keep no process alive. */
const isolate = createIsolate()

/**
 * Plays a run on the compiled machine and the interpreter of the local place, with a store in memory, in virtual time:
 * nothing is asked outside. Fault of the start where it cannot be started: invalid_dag, missing_input and their like.
 */
export async function playCase(play: Play): Promise<PlayedCase> {
  const began = performance.now()
  const folder = mkdtempSync(join(memoryOrDisk(), 'sluice-case-'))
  const time = openVirtualTime(START)
  const db = openDatabase(':memory:')
  const calls: PlayedCall[] = []
  const problems: string[] = []
  try {
    const settings = await settingsOf(play, folder)
    const clock = time.clock
    const engine = await assembleLocalWorld({
      settings,
      db,
      clock,
      log: SILENT,
      providers: {},
      keys: new Map(),
      address: { url: 'http://127.0.0.1:4040' },
    })
    const { world, host } = engine
    Object.assign(world, { isolate })
    const scripts = { models: play.models, steps: play.steps, tools: play.tools, folder: play.folder }
    const invoke = (name: string, payload: unknown) => host.invoke(name, payload)
    Object.assign(world, scriptedPorts({ ...world }, { scripts, time, calls, problems, invoke }))
    const played = { world, host, time, play, problems }
    try {
      const run = await start(played)
      const last = await toEnd(played, run)
      const took_ms = () => performance.now() - began
      return await readPlayed(world, {
        first: run,
        last,
        calls,
        problems,
        waited_ms: time.clock.now() - START,
        took_ms,
      })
    } finally {
      await engine.close()
    }
  } finally {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nobody reads the log of a case: what went wrong stands in its record. */
const SILENT = { info: () => {}, error: () => {} }

/** A folder in memory where this machine has one: objects are small files. */
function memoryOrDisk(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > LEAST_BYTES ? '/dev/shm' : tmpdir()
  } catch {
    // No such folder: another system.
    return tmpdir()
  }
}

const LEAST_BYTES = 1_073_741_824

/** Those of the project and of the case, in a folder of their own; nobody outside is told anything. */
async function settingsOf({ project, settings: own = {} }: Play, folder: string): Promise<Settings> {
  const file = parseSettings(await readIfAny(join(project, 'sluice.yaml')), 'sluice.yaml')
  const merged = FileSettingsSchema.safeParse({ ...file, ...own })
  if (!merged.success) throw badSettings(merged.error.issues)
  const { slack: _slack, telemetry: _telemetry, auth: _auth, events: _events, ...inside } = merged.data
  const settings = SettingsSchema.parse({
    ...inside,
    audit: {},
    webhooks: [],
    buses: [],
    port: 0,
    data_dir: join(folder, 'data'),
    dags: inside.dags.map((dir) => resolve(project, dir)),
    inputs_dir: resolve(project, inside.inputs_dir),
    project_dir: resolve(project),
  })
  return withLocalPeople(settings, { kind: 'user', id: TESTER })
}

function badSettings(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): Fault {
  const words = issues.map(({ path, message }): Issue => ({ path: `settings.${path.join('.')}`, message }))
  const lines = words.map(({ path, message }) => `${path}: ${message}`)
  return new Fault('InvalidInput', 'bad_settings', `Cannot use the settings of the case. ${lines.join('; ')}.`, {
    issues: words,
  })
}

/** No file is the same as an empty one. */
async function readIfAny(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return ''
    throw new Fault('InvalidInput', 'bad_settings', `Cannot read settings "${path}": ${String(cause)}.`, { cause })
  }
}

async function start(playing: Playing): Promise<RunKey> {
  const { inputs, context } = playing.play
  const body = { ...(await documentOf(playing.play)), ...(inputs && { inputs }), ...(context && { context }) }
  const json = await whileTimeGoes(playing, route(playing, 'start-run', { body }))
  return { tenant: TENANT, run_id: String(json.run_id) }
}

/** Something that may itself wait for the clock. */
async function whileTimeGoes<T>({ time }: Playing, work: Promise<T>): Promise<T> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  over.catch(() => undefined)
  while (!isOver) {
    await time.rest()
    const next = time.next()
    if (!isOver && next !== undefined) time.goTo(next)
  }
  return over
}

async function documentOf({ dag, folder }: Play): Promise<{ readonly dag?: unknown; readonly name?: string }> {
  if (typeof dag !== 'string') return { dag }
  if (!/\.ya?ml$/.test(dag)) return /\n/.test(dag) ? { dag } : { name: dag }
  const path = resolve(folder, dag)
  try {
    return { dag: await readFile(path, 'utf8'), name: basename(dag).replace(/\.ya?ml$/, '') }
  } catch (cause) {
    const message = `Cannot read the document "${dag}": there is no readable file ${path}. Name a file from the folder of the cases, or a document of the project without .yaml.`
    throw new Fault('NotFound', 'unknown_dag', message, { cause })
  }
}

/** Until the run has ended, and the one that takes its place if there is one. Answers the last. */
async function toEnd(playing: Playing, first: RunKey): Promise<RunKey> {
  const { time, problems } = playing
  const acts = openActs(playing)
  let run = first
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    await time.rest()
    const end = (await eventsOf(playing, run)).find(({ type }) => isRunEnd(type))
    const next = end === undefined ? undefined : nextRun(end)
    if (end !== undefined && next === undefined) {
      problems.push(...acts.unused())
      return run
    }
    if (next !== undefined) run = { ...run, run_id: next }
    if (!(await goOn(playing, await acts.open(run)))) break
  }
  const waited = durationWords((time.clock.now() - START) / 1_000)
  problems.push(`The run did not end in ${waited} of virtual time. ${await waitsFor(playing, run)}`)
  return run
}

/** What the case does now, or the clock goes to the next moment at which anything happens; false: none is near enough. */
async function goOn(playing: Playing, acts: readonly Act[]): Promise<boolean> {
  const { time, host } = playing
  const due = acts.filter((act) => act.at <= time.clock.now())
  for (const { act } of due) await whileTimeGoes(playing, act())
  if (due.length > 0) return true
  const late = START + PATIENCE_DAYS * 86_400_000
  const at = Math.min(...acts.map((act) => act.at), time.next() ?? late, await checkOf(playing))
  if (at >= late) return false
  time.goTo(at)
  await time.rest()
  await whileTimeGoes(playing, host.invoke('sweep', {}))
  return true
}

function nextRun(end: RunEvent): string | undefined {
  return 'next_run' in end.data ? end.data.next_run : undefined
}

/** When the sweep has to look at a run again. */
async function checkOf({ world }: Playing): Promise<number> {
  const { runs } = await world.runs.list(TENANT, { limit: 100 })
  const checks = runs.flatMap(({ head }) => (head.check_at === undefined ? [] : [Date.parse(head.check_at)]))
  const now = world.clock.now()
  // What is overdue was looked at, and is looked at again when something else is due, or a second later.
  return Math.min(...checks.map((at) => (at > now ? at : now + 1_000)), Number.POSITIVE_INFINITY)
}

async function waitsFor(playing: Playing, run: RunKey): Promise<string> {
  const open = await openQuestions(playing, run)
  if (open.length === 0) return 'Nothing of it goes on by itself.'
  return `People are asked about ${open.map(({ block_id }) => block_id).join(', ')}: add decisions to the case.`
}

/** Judges expected outputs as blocks of this project judge theirs; nothing outside is asked. */
export function checkJudge(project: string): JudgeCheck {
  const modules = folderModules(resolve(project))
  return async (check, facts) => {
    const gates = await readProjectGates(check, modules, isolate)
    const parsed = parseCheck(check, gateKinds(gates))
    if (!parsed.ok) return { status: 'error', reason: parsed.errors.map(({ message }) => message).join(' ') }
    const scripts = scriptsOf(gates)
    const use = { name: 'expected', check: parsed.check, on_fail: 'fail' } as const
    return judgeGate(use, facts, { isolate, script: async (version) => scripts.get(version) }, () => 0)
  }
}
