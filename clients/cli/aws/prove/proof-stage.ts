import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { VERIFY_RUN } from '../../../../shared/api/verify-routes.ts'
import type { RunEvent } from '../../../../shared/runs/event.ts'
import { sendDecision } from '../../approvals/decide-approval.ts'
import { type Ask, callApi, callWithRetries, type Target } from '../../server/api.ts'
import type { Approval } from '../../server/approval-schema.ts'
import { fetchEvents, fetchRun, type RunAnswer } from '../../server/fetch-run.ts'
import { Refused } from '../../terminal/refused.ts'
import type { StageReleases } from '../release/stage-releases.ts'
import { type ProofDocument, runUsd } from './proof-documents.ts'

/** What a step found not to hold, as words for its line of the report. */
export class NotHeld extends Error {}

/** What was counted while the steps ran. */
export interface ProofCounts {
  runs: number
  blocks: number
  requests: number
  /** Of the runs, as they were planned. */
  usd: number
}

/** The stage that is proven, as its steps see it: its API over HTTP, and what only whoever deployed it can do. */
export interface ProofStage {
  readonly target: Target
  readonly counts: ProofCounts
  readonly signal: AbortSignal
  /** Deploys it again, with other code in every function. */
  redeploy(): Promise<void>
  /** Which release new runs begin with: the stage is deployed with `sluice:release: gradual`. */
  releases(): Promise<StageReleases>
  /** Lets so many run-blocks run at once, no more; answers who says so. `undefined`: as many as the account has. */
  limitRunBlock(most: number | undefined): Promise<string>
}

/** How long something may take that nobody can say: a first call of each function, an index that is behind. */
const PATIENCE_MS = 15 * 60_000
/** A caller has 120 requests a minute by default. */
const LOOK_EACH_MS = 1_000

/** The calls of a proof. Each may be made twice; a refusal that passes is waited for. */
export function proofCalls({ target, counts, signal }: ProofStage) {
  const patient = <T>(call: () => Promise<T>): Promise<T> => callWithRetries(call, { signal, note: () => {} })
  const ask = <T>(schema: z.ZodType<T>, request: Ask) => patient(() => callApi(target, schema, request))
  const until = async (runId: string, fits: (run: RunAnswer) => boolean, what: string): Promise<RunAnswer> => {
    for (const end = performance.now() + PATIENCE_MS; ; await delay(LOOK_EACH_MS, undefined, { signal })) {
      const found = await patient(() => fetchRun(target, runId))
      if (fits(found)) return found
      const { state } = found.run
      if (ENDED.has(state)) throw new NotHeld(`run ${runId} ended as ${state} before it ${what}`)
      if (performance.now() > end) throw new NotHeld(`run ${runId} never ${what}: it is ${state} after 15 minutes`)
    }
  }
  return {
    ask,
    async start(dag: ProofDocument): Promise<string> {
      const body = { dag: JSON.stringify(dag) }
      const { run_id } = await ask(StartedSchema, (api) => api.POST('/api/dag/run', { body }))
      counts.runs += 1
      counts.blocks += dag.blocks.length
      counts.usd += runUsd(dag)
      return run_id
    },
    until,
    events: (runId: string): Promise<readonly RunEvent[]> => patient(() => fetchEvents(target, runId)),
    /** Waits for its end, which must be this one, and for a record that fits together. */
    async ends(runId: string, as = 'completed'): Promise<void> {
      const { run } = await until(runId, ({ run: { state } }) => ENDED.has(state), 'ended')
      if (run.state !== as) throw new NotHeld(`run ${runId} ended as ${run.state} and not ${as} (${run.reason ?? '-'})`)
      const verified = await ask(VERIFY_RUN.answer.loose(), (api) =>
        api.GET('/api/dag/runs/{run_id}/verify', { params: { path: { run_id: runId } } }),
      )
      const wrong = verified.checks.filter(({ ok, left_out }) => !ok && left_out === undefined)
      if (!verified.ok)
        throw new NotHeld(`the record of run ${runId} does not hold: ${wrong.map(({ title }) => title)}`)
    },
    /** What is asked of it. */
    async question(runId: string): Promise<Approval> {
      const isAsked = ({ approvals }: RunAnswer) => approvals.some(isPending)
      const asked = (await until(runId, isAsked, 'asked')).approvals.find(isPending)
      if (asked === undefined) throw new NotHeld(`run ${runId} asks nothing`)
      return asked
    },
    /** A program's yes or no, recorded as that; answers the HTTP status, also where it is refused. */
    decide: (runId: string, approval: Approval, decision: 'approve' | 'reject'): Promise<number> =>
      patient(() => sendDecision(target, runId, { approval, decision, by: 'cli --yes' })).then(
        () => 200,
        (error: unknown) => {
          if (error instanceof Refused && error.status !== undefined) return error.status
          throw error
        },
      ),
  }
}

function isPending({ status }: Approval): boolean {
  return status === 'pending'
}

const StartedSchema = z.looseObject({ run_id: z.string() })
const ENDED = new Set(['completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'])
