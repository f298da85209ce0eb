import type { FaultName } from '../../shared/errors.ts'
import { blockOutcome, type Head } from '../../shared/runs/head.ts'
import type { Execution } from '../../shared/runs/machine.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { endRun } from './end-run.ts'
import { endUnawaitedChild, isAwaited } from './stop-children.ts'

/**
 * An execution that ended outside our view (failed, timed out, aborted, lost) fails its run, in words; a child nobody
 * waits for is cancelled.
 */
export async function reconcileRun(world: World, run: RunKey, head: Head): Promise<void> {
  const meta = await world.runs.meta(run)
  if (meta === undefined || head.outbox.some(({ kind }) => kind === 'start_run')) return
  if (!(await isAwaited(world, meta))) return endUnawaitedChild(world, meta)
  const execution = await world.machine.describe(meta.machine, run.run_id)
  if (execution === undefined || execution.status === 'RUNNING') return
  const at = await unfinishedWords(world, run).catch(() => '')
  const reason = `its execution ended ${execution.status}${whyWords(execution)}${at} before the run had a verdict`
  // The execution needs no stop, its children do.
  const stop = Object.keys(head.children).length > 0
  await endRun(world, run, { state: 'failed', code: 'execution_ended', reason, stop })
}

/** A function's error comes as Lambda's JSON: the message of a Fault is for people, a trace never is. */
function whyWords({ error, cause = '' }: Execution): string {
  if (error === undefined) return cause === '' ? '' : ` (${shortened(cause)})`
  const message = /^\{"errorType":"[^"]*","errorMessage":("(?:[^"\\]|\\.)*")/.exec(cause)?.[1]
  if (message === undefined) return ` (${error}${cause === '' ? '' : `: ${shortened(cause)}`})`
  return ` (${error}: ${Object.hasOwn(OURS, error) ? shortened(JSON.parse(message)) : 'unexpected, the log has it'})`
}

/** Only their messages are written for people; others may show internals. */
const OURS: Readonly<Record<FaultName, true>> = {
  InvalidInput: true,
  NotFound: true,
  Conflict: true,
  LimitExceeded: true,
  Unavailable: true,
  GateFailed: true,
  Rejected: true,
  Bug: true,
}

function shortened(text: string): string {
  return text.slice(0, 300).toWellFormed()
}

/** The blocks that were at work or next: one of them is what the execution ended on. */
async function unfinishedWords(world: World, run: RunKey): Promise<string> {
  const pinned = await readPinned(world, run)
  const { dag } = pinned
  const head = (await world.runs.head(run)) ?? { lanes: {}, modules: {} }
  const outcomeOf = (id: string) => blockOutcome(pinned, head, id)
  const due = dag.blocks.filter(({ id, upstream }) => {
    return outcomeOf(id) === undefined && upstream.every((other) => outcomeOf(other) !== undefined)
  })
  if (due.length === 0) return ''
  const named = due.slice(0, 3).map(({ id }) => `"${id}"`)
  const more = due.length > 3 ? ` and ${due.length - 3} more` : ''
  return ` at block ${named.join(', ')}${more}`
}
