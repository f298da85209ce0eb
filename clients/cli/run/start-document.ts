import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Dag } from '../../../shared/dag/dag.ts'
import type { Json } from '../../../shared/text/json.ts'
import { withPlace } from '../place/with-place.ts'
import { chooseTarget, isServerThere } from '../server/api.ts'
import { readFile } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import {
  askForMissing,
  likelyTypos,
  readContext,
  readLabelPairs,
  splitRunInputs,
  takenDefaults,
} from '../terminal/input-values.ts'
import type { TargetOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { type ChosenDocument, chooseDocument, refuseUnknownName } from './choose-document.ts'
import { type StartHow, startAndWatch, startOnly } from './start-and-watch.ts'

export interface RunStartOptions extends TargetOptions {
  readonly example?: string
  readonly input?: readonly string[]
  readonly label?: readonly string[]
  readonly subject?: readonly string[]
  readonly contextJson?: string
  readonly goalContract?: string
  readonly continue?: string
  readonly maxParallel?: number
  readonly failFast?: true
  readonly deadlineSec?: number
  readonly priority?: number
  readonly watch?: true
  readonly quiet?: true
  readonly yes?: true
}

/** `sluice run start`: on a server, or with none there right here. */
export async function startDocument(
  session: Session,
  given: string | undefined,
  options: RunStartOptions,
): Promise<void> {
  const chosen = chooseDocument(given, options.example)
  const input = await inputPairs(session, chosen, options)
  const how = {
    request: requestOf(chosen, { ...options, input }),
    json: options.json === true,
    quiet: options.quiet === true,
    yes: options.yes === true,
  }
  if (how.yes && chosen.dag !== undefined) requireOneVote(chosen.dag, session.settings.command)
  for (const line of chosen.dag === undefined ? [] : likelyTypos(options.input ?? [], chosen.dag)) {
    session.warn(line)
  }
  const target = chooseTarget(session, options.url)
  if (!target.named && (target.inside === true || !(await isServerThere(target)))) await runInside(session, chosen, how)
  else if (options.watch === true || how.quiet || how.yes)
    process.exitCode = (await startAndWatch(session, target, how)).exitCode
  else await startOnly(session, target, how)
}

/**
 * The values of the command line, and what a person on a terminal is asked for. Of an example it says which values are its own.
 * A run that continues another one has that one's values.
 */
async function inputPairs(
  session: Session,
  { dag }: ChosenDocument,
  { input: pairs = [], contextJson, continue: continues, example, json, quiet, yes }: RunStartOptions,
): Promise<readonly string[]> {
  if (dag === undefined || continues !== undefined) return pairs
  const { context } = requestFiles({ ...(contextJson !== undefined && { contextJson }) })
  if (example !== undefined && quiet !== true)
    for (const line of takenDefaults(dag, { pairs, context })) session.warn(line)
  if (json === true || yes === true) return pairs
  return [...pairs, ...(await askForMissing(session, dag, { pairs, context }))]
}

/** The body of POST /api/dag/run. */
function requestOf({ body, dag }: ChosenDocument, options: RunStartOptions): StartHow['request'] {
  const {
    input: pairs = [],
    label: labels = [],
    subject: subjects = [],
    maxParallel,
    failFast,
    deadlineSec,
    priority,
    continue: continues,
  } = options
  const { context, ...files } = requestFiles(options)
  const chosen = {
    ...(maxParallel !== undefined && { max_parallel: maxParallel }),
    ...(failFast !== undefined && { fail_fast: failFast }),
    ...(deadlineSec !== undefined && { deadline_sec: deadlineSec }),
  }
  return {
    ...body,
    ...splitRunInputs({ pairs, context, ...(dag !== undefined && { declared: dag.inputs }) }),
    ...files,
    ...(subjects.length > 0 && { subject: [...subjects] }),
    ...(labels.length > 0 && { labels: readLabelPairs(labels) }),
    ...(continues !== undefined && { continues }),
    ...(priority !== undefined && { priority }),
    ...(Object.keys(chosen).length > 0 && { options: chosen }),
  }
}

/**
 * No server was there and none was named: the place runs inside this command, on a port of its own, until the run
 * has ended. Runs and objects stay in the data folder; `sluice start` there goes on with whatever is left. A document
 * with errors is refused before there is a data folder.
 */
async function runInside(session: Session, { body, errors = [] }: ChosenDocument, how: StartHow): Promise<void> {
  if (errors.length > 0) {
    const detail = `Cannot start: the DAG has ${count(errors.length, 'error')}.`
    throw new Refused({ code: 'invalid_dag', detail, errors })
  }
  refuseUnknownName(body)
  // An example finds the agents and gates it needs where a folder says nothing of its own.
  const example = 'example' in body && !existsSync('sluice.yaml')
  await withPlace({ port: 0, example, logs: session.settings.logs }, async ({ target, dataDir, signal }) => {
    const inside = { dataDir, artifactsDir: join(dataDir, 'artifacts'), example }
    process.exitCode = (await startAndWatch(session, target, { ...how, signal, inside })).exitCode
  })
}

/** Said before anything is started: --yes is one voice, that of who started the run. */
export function requireOneVote({ blocks }: Pick<Dag, 'blocks'>, command: string): void {
  const [first] = blocks.flatMap(({ id, approval }) => {
    if (approval === undefined) return []
    const { quorum, self_approval } = approval
    if (quorum > 1) return [`block "${id}" waits for ${quorum} people (quorum), and --yes is one of them`]
    return self_approval ? [] : [`block "${id}" may not be approved by who started the run (self_approval: false)`]
  })
  if (first === undefined) return
  const how = `Start it without --yes at a place others reach too (${command} start); each of them decides with ${command} run approve RUN, on the console or in Slack.`
  throw new Refused({ code: 'yes_is_not_enough', detail: `Cannot start with --yes: ${first}. ${how}` }, { exitCode: 2 })
}

/** What a start request takes from files: free values, and a goal contract as its text, which the server reads. */
function requestFiles(files: { readonly contextJson?: string; readonly goalContract?: string }): {
  readonly context: Readonly<Record<string, Json>>
  readonly goal_contract?: string
} {
  const { contextJson, goalContract } = files
  const contract = goalContract === undefined ? {} : { goal_contract: readFile(goalContract, 'goal contract') }
  return { context: readContext(contextJson), ...contract }
}
