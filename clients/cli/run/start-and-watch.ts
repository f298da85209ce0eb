import { join } from 'node:path'
import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import type { paths } from '../../api/schema.generated.ts'
import { openAsksHere } from '../approvals/ask-here.ts'
import { approveOrExplain } from '../approvals/decide-approval.ts'
import {
  type Ask,
  callApi,
  chooseTarget,
  commandLine,
  consoleLine,
  consoleLineLater,
  isOfProject,
  type Target,
} from '../server/api.ts'
import { followChildren, followEvents } from '../server/event-stream.ts'
import type { RunAnswer } from '../server/fetch-run.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import { type ExitCode, Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'
import { artifactLines, saveArtifacts } from './artifacts.ts'
import { failedLogLines } from './log.ts'
import { sayResult, sinkTexts } from './outputs.ts'
import { endWords, runExitCode, watchRun } from './watch.ts'

type StartBody = NonNullable<paths['/api/dag/run']['post']['requestBody']>['content']['application/json']

/** How to start and follow a run. */
export interface StartHow extends FollowHow {
  /** The body of POST /api/dag/run, or the call of another route that starts a run. */
  readonly request: StartBody | Ask
}

interface FollowHow {
  readonly json: boolean
  /** stdout gets what the run was made for, and nothing else. */
  readonly quiet?: boolean
  /** Approves every approval the run asks for, declared as `cli --yes`. */
  readonly yes: boolean
  readonly signal?: AbortSignal
  /** The place runs inside this command, and its server is gone afterwards. */
  readonly inside?: {
    readonly dataDir: string
    /** Where to copy what the run leaves, a folder a run. */
    readonly artifactsDir: string
    /** Of a folder without settings: those of the package. */
    readonly example?: boolean
  }
  /** What to say when a person is asked, instead of asking here. */
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

export function addWatch(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTargetOptions(
    parent.command('watch', hidden).description('follow a run to its end; --json prints an event a line'),
  )
    .argument('<run-id>')
    .option('--quiet', 'follow it to its end, and print its result alone')
    .action((runId: string, options: WatchOptions) => watch(session, runId, options))
}

interface WatchOptions extends TargetOptions {
  readonly quiet?: true
}

async function watch(session: Session, runId: string, { url, json, quiet }: WatchOptions): Promise<void> {
  const target = chooseTarget(session, url)
  if (json !== true) {
    const how = { json: false, quiet: quiet === true, yes: false }
    process.exitCode = (await watchToEnd(session, target, how, runId)).exitCode
    return
  }
  let last = ''
  for await (const event of followEvents(target, { runId })) {
    last = event.type
    await session.write(`${jsonText(event)}\n`)
  }
  process.exitCode = runExitCode(last.slice('run:'.length))
}

/** Starts a run and says how to follow it. */
export async function startOnly(session: Session, target: Target, how: StartHow): Promise<void> {
  const started = await postRun(target, how)
  if (how.json) return session.say(jsonText(started, 2))
  session.say(`Started run ${started.run_id} of ${oneLine(started.dag_name)} at ${target.url}.`)
  for (const line of reuseLines(started)) session.say(line)
  if (started.queued === true) session.say('It waits in a queue: `sluice run status` says for what, and behind whom.')
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
  if (isTold(how)) for (const line of lines) session.say(line)
  return await watchToEnd(session, target, how, started.run_id)
}

/** Progress is for people who did not ask for a result alone. */
function isTold({ json, quiet }: FollowHow): boolean {
  return !json && quiet !== true
}

async function watchToEnd(session: Session, target: Target, how: FollowHow, runId: string): Promise<Ended> {
  const ended = await follow(session, target, how, runId)
  const artifacts = await leftBehind(session, target, how, runId)
  if (isTold(how)) await sayEnd(session, target, how, { ended, artifacts })
  const next = how.inside === undefined ? undefined : ended.run.next_run
  if (next !== undefined) {
    if (isTold(how)) session.say(`\nRun ${oneLine(next)}`)
    return await watchToEnd(session, target, how, next)
  }
  if (how.json) session.say(jsonText(ended, 2))
  else if (how.quiet === true) await sayResult(session, target, ended)
  return { runId, exitCode: runExitCode(ended.run.state), artifacts }
}

/** With Ctrl-C the person goes, and is told how to come back. */
async function follow(session: Session, target: Target, how: FollowHow, runId: string): Promise<RunAnswer> {
  const left = leaveOnCtrlC(wayOn(session, target, how, runId))
  const signal = how.signal === undefined ? left.signal : AbortSignal.any([left.signal, how.signal])
  const here = asksHere(session, how) ? askHere(session, target, how, left.leave) : undefined
  try {
    const ended = await watchRun(session, target, {
      runId,
      signal,
      ...(isTold(how) ? {} : { quiet: { notes: how.quiet === true } }),
      onEvent: followChildren(
        target,
        (event, view) =>
          here === undefined ? approveOrExplain(session, target, how, event, view) : here.hear(event, view),
        signal,
      ),
    })
    await here?.close()
    return ended
  } catch (error) {
    // A place inside this command ends with Ctrl-C too: that is no reason of its own.
    throw left.signal.aborted ? left.signal.reason : error
  } finally {
    left.forget()
    // After an error that one is told, and no question stays open.
    await here?.close().catch(() => {})
  }
}

function asksHere({ asks }: Session, how: FollowHow): boolean {
  return asks && !how.json && !how.yes && how.asks === undefined
}

function askHere(session: Session, target: Target, { quiet }: FollowHow, leave: () => void) {
  return openAsksHere(session, target, { say: quiet === true ? session.warn : session.say, interrupted: leave })
}

/** What Ctrl-C says: the run of a server goes on, one inside this command when a place is started on its folder. */
function wayOn(session: Session, target: Target, { inside }: FollowHow, runId: string): string {
  const { command } = session.settings
  if (inside === undefined) {
    const words = (what: string) => commandLine(session, target, `run ${what} ${runId}`)
    return `Run ${runId} goes on without you. Follow it: ${words('watch')}. End it: ${words('stop')}.`
  }
  const start = `${command} start${inside.example === true ? ' --example' : ''}`
  return `Run ${runId} stands still; what it has done is kept in ${inside.dataDir}. Go on with it: ${start}, then ${command} run watch ${runId}.`
}

/** Ctrl-C ends what follows a run with a word on how to go on, and exit code 130. */
function leaveOnCtrlC(words: string) {
  const control = new AbortController()
  const leave = () => control.abort(new Refused({ code: 'interrupted', detail: words }, { exitCode: 130 }))
  process.on('SIGINT', leave)
  return { signal: control.signal, leave, forget: () => void process.off('SIGINT', leave) }
}

async function sayEnd(
  session: Session,
  target: Target,
  how: FollowHow,
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

/** The command that shows something whole: of a folder that is not this project's a server is started first. */
function readAgain(session: Session, target: Target, { inside }: FollowHow, words: string): string {
  if (inside === undefined) return commandLine(session, target, words)
  if (isOfProject(session, inside.dataDir)) return `${session.settings.command} ${words}`
  const { command } = session.settings
  return `${command} start --data-dir ${inside.dataDir}, then ${command} ${words}`
}

function leftBehind(
  session: Session,
  target: Target,
  { inside }: FollowHow,
  runId: string,
): Promise<readonly string[]> {
  if (inside === undefined) return artifactLines(session, target, runId)
  return saveArtifacts(target, runId, join(inside.artifactsDir, runId))
}

function postRun(target: Target, how: StartHow): Promise<Started> {
  const { request } = how
  if (typeof request === 'function') return callApi(target, StartedSchema, request)
  return callApi(target, StartedSchema, (api) => api.POST('/api/dag/run', { body: request }))
}
