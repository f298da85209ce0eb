import { join } from 'node:path'
import * as z from 'zod'
import type { paths } from '../../api/schema.generated.ts'
import { approveOrExplain } from '../approvals/decide-approval.ts'
import { type Ask, callApi, commandLine, consoleLine, consoleLineLater, type Target } from '../server/api.ts'
import { followChildren } from '../server/event-stream.ts'
import type { RunAnswer } from '../server/fetch-run.ts'
import type { ExitCode } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'
import { artifactLines, saveArtifacts } from './artifacts.ts'
import { failedLogLines } from './log.ts'
import { sinkTexts } from './outputs.ts'
import { endWords, runExitCode, watchRun } from './watch.ts'

type StartBody = NonNullable<paths['/api/dag/run']['post']['requestBody']>['content']['application/json']

/** How to start and follow a run. */
export interface StartHow {
  /** The body of POST /api/dag/run, or the call of another route that starts a run. */
  readonly request: StartBody | Ask
  readonly json: boolean
  /** Approves every approval the run asks for, declared as `cli --yes`. */
  readonly yes: boolean
  readonly signal?: AbortSignal
  /** The place runs inside this command, and its server is gone afterwards. */
  readonly inside?: {
    readonly dataDir: string
    /** Where to copy what the run leaves, a folder a run. */
    readonly artifactsDir: string
  }
  /** What to say when a person is asked, instead of the usual command line. */
  asks?(runId: string): string
}

const StartedSchema = z.looseObject({
  run_id: z.string(),
  dag_name: z.string(),
  queued: z.boolean().optional(),
  retry_of: z.string().optional(),
  pivots: z.string().optional(),
  reused_expected: z.array(z.string()).optional(),
})
type Started = z.infer<typeof StartedSchema>

/** Starts a run and says how to follow it. */
export async function startOnly(session: Session, target: Target, how: StartHow): Promise<void> {
  const started = await postRun(target, how)
  if (how.json) return session.say(jsonText(started, 2))
  session.say(`Started run ${started.run_id} of ${oneLine(started.dag_name)} at ${target.url}.`)
  for (const line of reuseLines(started)) session.say(line)
  if (started.queued === true) session.say('It waits for a place: as many runs are active as may be.')
  session.say(`Follow it: ${commandLine(session, target, `run watch ${started.run_id}`)}`)
}

/** Of a pivot: whose goal it tries again. Of a retry: which blocks it will most likely not run. */
function reuseLines({ retry_of, pivots, reused_expected = [] }: Started): readonly string[] {
  if (pivots !== undefined) return [`It tries again the goal of ${oneLine(pivots)}.`]
  if (retry_of === undefined) return []
  const blocks = reused_expected.length === 0 ? 'No block' : oneLine(reused_expected.join(', '))
  return [`It retries ${oneLine(retry_of)}. Taken over where gates still hold: ${blocks}`]
}

interface Ended {
  /** The last one: of a run inside this command the one it went on as. */
  readonly runId: string
  readonly exitCode: ExitCode
  /** A line an artifact: its name and where it is. */
  readonly artifacts: readonly string[]
}

/**
 * Starts a run and follows it to its end. Inside this command also the runs it goes on as (another try at its goal, or
 * what a person sent back): nobody else would see them through.
 */
export async function startAndWatch(session: Session, target: Target, how: StartHow): Promise<Ended> {
  const started = await postRun(target, how)
  const data = how.inside === undefined ? '' : `, in this process; its data is kept in ${how.inside.dataDir}`
  const page = how.inside === undefined ? (consoleLine(session, target, started.run_id) ?? []) : []
  const lines = [`Run ${started.run_id} at ${target.url}${data}`, page, reuseLines(started)].flat()
  if (!how.json) for (const line of lines) session.say(line)
  return await watchToEnd(session, target, how, started.run_id)
}

async function watchToEnd(session: Session, target: Target, how: StartHow, runId: string): Promise<Ended> {
  const ended = await follow(session, target, how, runId)
  const artifacts = await leftBehind(session, target, how, runId)
  if (!how.json) await sayEnd(session, target, how, { ended, artifacts })
  const next = how.inside === undefined ? undefined : ended.run.next_run
  if (next !== undefined) {
    if (!how.json) session.say(`\nRun ${oneLine(next)}`)
    return await watchToEnd(session, target, how, next)
  }
  if (how.json) session.say(jsonText(ended, 2))
  return { runId, exitCode: runExitCode(ended.run.state), artifacts }
}

function follow(session: Session, target: Target, how: StartHow, runId: string): Promise<RunAnswer> {
  return watchRun(session, target, {
    runId,
    quiet: how.json,
    ...(how.signal && { signal: how.signal }),
    onEvent: followChildren(
      target,
      (event, note) => approveOrExplain(session, target, how, { event, note }),
      how.signal,
    ),
  })
}

async function sayEnd(
  session: Session,
  target: Target,
  how: StartHow,
  { ended, artifacts }: { readonly ended: RunAnswer; readonly artifacts: readonly string[] },
): Promise<void> {
  const { run_id } = ended.run
  const texts = await sinkTexts(target, ended, (block) =>
    readAgain(session, target, how, `run output ${run_id} ${block}`),
  )
  const page = how.inside === undefined ? [] : [consoleLineLater(session, how.inside.dataDir, run_id)]
  const logs = failedLogLines(ended, (words) => readAgain(session, target, how, words))
  for (const line of [endWords(ended), ...logs, ...texts, ...artifacts, ...page]) session.say(line)
}

/** The command that shows something whole: without a server there, one is started first. */
function readAgain(session: Session, target: Target, { inside }: StartHow, words: string): string {
  if (inside === undefined) return commandLine(session, target, words)
  const { command } = session.settings
  return `${command} start --data-dir ${inside.dataDir}, then ${command} ${words}`
}

function leftBehind(session: Session, target: Target, { inside }: StartHow, runId: string): Promise<readonly string[]> {
  if (inside === undefined) return artifactLines(session, target, runId)
  return saveArtifacts(target, runId, join(inside.artifactsDir, runId))
}

function postRun(target: Target, how: StartHow): Promise<Started> {
  const { request } = how
  if (typeof request === 'function') return callApi(target, StartedSchema, request)
  return callApi(target, StartedSchema, (api) => api.POST('/api/dag/run', { body: request }))
}
