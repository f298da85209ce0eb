import type { CompletionRequest } from '../../shared/goals/evaluate-completion.ts'
import type { RunGoal, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { notYetThere } from '../runs/not-yet-there.ts'
import type { Pinned } from '../runs/read-pinned.ts'
import type { LeftOut } from './check-artifacts.ts'
import { gatherEvidence } from './gather-evidence.ts'
import { readVerdicts } from './read-verdicts.ts'
import { standingBlocks } from './standing-blocks.ts'

/** All the gates are asked about a run whose blocks have ended, but for the attempts before it. */
export interface RunRequest {
  readonly request: CompletionRequest
  readonly left_out: readonly LeftOut[]
}

/** Reads what a run is judged by: its frozen contract, the evidence, and what its verifiers say of that. */
export async function completionRequest(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  pinned: Pinned,
  { completion, contract_ref }: RunGoal,
): Promise<RunRequest> {
  const standing = await standingBlocks(world, run)
  const { texts, artifacts, other_outputs, left_out } = await gatherEvidence(world, run, pinned, standing)
  const verdicts = await readVerdicts(world, run, { dag: pinned.dag, completion, standing })
  const contract = contract_ref === undefined ? {} : { contract: await readContract(world, run, contract_ref) }
  return {
    request: { ...contract, texts, artifacts, other_outputs, ...verdicts, quality: completion.quality },
    left_out,
  }
}

/** META names it, so it was written: without it a run is never judged as one that has none. */
async function readContract({ objects }: Pick<World, 'objects'>, run: RunKey, ref: string): Promise<unknown> {
  const body = await objects.get(run.tenant, ref).catch(notYetThere(`the goal contract of run "${run.run_id}"`))
  return JSON.parse(Buffer.from(body).toString('utf8'))
}
