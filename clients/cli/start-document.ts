import { chooseTarget } from './api.ts'
import { type ChosenDocument, chooseDocument } from './choose-document.ts'
import { requestFiles } from './request-files.ts'
import { requireOneVote } from './require-one-vote.ts'
import { askForMissing, doubtfulInputs, runInputs, takenDefaults } from './run-inputs.ts'
import { runInside } from './run-inside.ts'
import { isServerThere } from './server-there.ts'
import type { Session } from './session.ts'
import { type StartHow, startAndWatch, startOnly } from './start-run.ts'
import type { TargetOptions } from './target-options.ts'

export interface RunStartOptions extends TargetOptions {
  readonly example?: string
  readonly input?: readonly string[]
  readonly contextJson?: string
  readonly goalContract?: string
  readonly continue?: string
  readonly maxParallel?: number
  readonly failFast?: true
  readonly deadlineSec?: number
  readonly watch?: true
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
    yes: options.yes === true,
  }
  if (how.yes && chosen.dag !== undefined) requireOneVote(chosen.dag, session.settings.command)
  for (const line of chosen.dag === undefined ? [] : doubtfulInputs(options.input ?? [], chosen.dag)) {
    session.warn(line)
  }
  const target = chooseTarget(session, options.url)
  if (!target.named && !(await isServerThere(target))) await runInside(session, chosen, how)
  else if (options.watch === true || how.yes) process.exitCode = (await startAndWatch(session, target, how)).exitCode
  else await startOnly(session, target, how)
}

/**
 * The values of the command line, and what a person on a terminal is asked for. Of an example it says which values are its own.
 * A run that continues another one has that one's values.
 */
async function inputPairs(
  session: Session,
  { dag }: ChosenDocument,
  { input: pairs = [], contextJson, continue: continues, example, json, yes }: RunStartOptions,
): Promise<readonly string[]> {
  if (dag === undefined || continues !== undefined) return pairs
  const { context } = requestFiles({ ...(contextJson !== undefined && { contextJson }) })
  if (example !== undefined) for (const line of takenDefaults(dag, { pairs, context })) session.warn(line)
  if (json === true || yes === true) return pairs
  return [...pairs, ...(await askForMissing(session, dag, { pairs, context }))]
}

/** The body of POST /api/dag/run. */
function requestOf({ body, dag }: ChosenDocument, options: RunStartOptions): StartHow['request'] {
  const { input: pairs = [], maxParallel, failFast, deadlineSec, continue: continues } = options
  const { context, ...files } = requestFiles(options)
  const chosen = {
    ...(maxParallel !== undefined && { max_parallel: maxParallel }),
    ...(failFast !== undefined && { fail_fast: failFast }),
    ...(deadlineSec !== undefined && { deadline_sec: deadlineSec }),
  }
  return {
    ...body,
    ...runInputs({ pairs, context, ...(dag !== undefined && { declared: dag.inputs }) }),
    ...files,
    ...(continues !== undefined && { continues }),
    ...(Object.keys(chosen).length > 0 && { options: chosen }),
  }
}
