import { join } from 'node:path'
import * as z from 'zod'
import type { RunEvent } from '../../shared/runs/event.ts'
import { callApi, type Target } from './api.ts'
import { artifactLines, saveArtifacts } from './artifacts.ts'
import { fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { chooseApproval } from './pending-approvals.ts'
import { oneLine } from './plain-text.ts'
import { type ExitCode, Refused } from './refused.ts'
import { endWords, exitCodeOf } from './run-end.ts'
import { sendDecision } from './send-decision.ts'
import type { Session } from './session.ts'
import { watchRun } from './watch-run.ts'

/** How to start and follow a run. */
export interface StartHow {
  /** The body of POST /api/dag/run. */
  readonly request: unknown
  readonly json: boolean
  /** Approves every approval the run asks for, recorded as via `--yes`. */
  readonly yes: boolean
  readonly signal?: AbortSignal
  /** Where to copy what the run leaves, a folder a run: for a server that is gone afterwards. */
  readonly artifactsDir?: string
  /** What to say when a person is asked, instead of the usual command line. */
  asks?(runId: string): string
}

const StartedSchema = z.looseObject({ run_id: z.string(), dag_name: z.string() })
type Started = z.infer<typeof StartedSchema>

/** Starts a run and says how to follow it. */
export async function startOnly(session: Session, target: Target, how: StartHow): Promise<void> {
  const started = await postRun(target, how)
  if (how.json) return session.say(jsonText(started, 2))
  session.say(`Started run ${started.run_id} of ${oneLine(started.dag_name)}.`)
  session.say(`Follow it: sluice run watch ${started.run_id}`)
}

interface Ended {
  readonly runId: string
  readonly exitCode: ExitCode
  /** A line an artifact: its name and where it is. */
  readonly artifacts: readonly string[]
}

/** Starts a run and follows it to its end. */
export async function startAndWatch(session: Session, target: Target, how: StartHow): Promise<Ended> {
  const { run_id } = await postRun(target, how)
  if (!how.json) session.say(`Run ${run_id}`)
  const ended = await watchRun(session, target, {
    runId: run_id,
    quiet: how.json,
    ...(how.signal && { signal: how.signal }),
    onEvent: (event, note) => answerApproval(target, how, event, note),
  })
  const artifacts = await leftBehind(target, how, run_id)
  if (how.json) session.say(jsonText(ended, 2))
  else for (const line of [endWords(ended), ...artifacts]) session.say(line)
  return { runId: run_id, exitCode: exitCodeOf(ended.run.state), artifacts }
}

function leftBehind(target: Target, { artifactsDir }: StartHow, runId: string): Promise<readonly string[]> {
  if (artifactsDir === undefined) return artifactLines(target, runId)
  return saveArtifacts(target, runId, join(artifactsDir, runId))
}

function postRun(target: Target, how: StartHow): Promise<Started> {
  return callApi(target, StartedSchema, { method: 'POST', path: '/api/dag/run', body: how.request })
}

async function answerApproval(target: Target, how: StartHow, event: RunEvent, note: (text: string) => void) {
  if (event.type !== 'approval:requested') return
  const { run_id, block_id, data } = event
  if (!how.yes) {
    note(how.asks?.(run_id) ?? `Block ${block_id} waits for a person: sluice run approve ${run_id} --url ${target.url}`)
    return
  }
  try {
    const approval = chooseApproval(await fetchRun(target, run_id), { approval: data.approval_id })
    note(`Block ${block_id} asks: ${oneLine(approval.prompt)} Approved because of --yes.`)
    await sendDecision(target, run_id, { approval, decision: 'approve', via: 'cli --yes' })
  } catch (error) {
    // Somebody else was faster, or the run has ended: the next events say so.
    if (!(error instanceof Refused) || !(error.status === 409 || error.reason.code === 'nothing_pending')) throw error
  }
}
