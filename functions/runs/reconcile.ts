import * as z from 'zod'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { functionHandler } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { reconcileRun } from './reconcile-run.ts'

/**
 * Step Functions' "Execution Status Change" for an execution that failed, timed out or was aborted: its run fails at
 * once instead of at its next look. Best effort: the sweep finds what is missed. An execution nobody here started is
 * no run of ours. Source: EventBridge events of AWS Step Functions.
 */
export const handler = functionHandler({
  name: 'reconcile',
  input: z.looseObject({ detail: z.looseObject({ input: z.string().max(262_144).nullish() }) }),
  async run({ detail }, world) {
    const run = runIn(detail.input ?? '')
    const head = run === undefined ? undefined : await world.runs.head(run, [])
    if (run === undefined || head?.state !== 'running') return { looked: false }
    await reconcileRun(world, run, head)
    return { looked: true }
  },
})

function runIn(input: string): RunKey | undefined {
  try {
    const parsed = MachineInputSchema.safeParse(JSON.parse(input))
    return parsed.success ? toRunKey(parsed.data) : undefined
  } catch {
    return undefined
  }
}
