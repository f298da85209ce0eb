import type { Principal } from '../shared/auth/principal.ts'
import type { Block, Dag } from '../shared/dag/dag.ts'
import { Fault } from '../shared/errors.ts'
import { runErasedFault } from '../shared/runs/erasure.ts'
import type { Head } from '../shared/runs/head.ts'
import type { RunKey } from '../shared/runs/run-store.ts'
import { suggest } from '../shared/text/wording.ts'
import type { World } from '../shared/world.ts'

/** The run a request names, in the caller's tenant: another tenant's id answers exactly like an unknown one. */
export async function requireRun(
  world: Pick<World, 'runs'>,
  call: { readonly principal: Pick<Principal, 'tenant'>; readonly params: { readonly run_id: string } },
): Promise<{ readonly run: RunKey; readonly head: Head }> {
  const run = { tenant: call.principal.tenant, run_id: call.params.run_id }
  const head = await world.runs.head(run)
  if (head !== undefined) return { run, head }
  throw await missingRunFault(world, run, `Cannot find run "${run.run_id}"`)
}

/** Of a run that is not there: it was erased, or there never was one. */
export async function missingRunFault(world: Pick<World, 'runs'>, run: RunKey, cannot: string): Promise<Fault> {
  const erasure = (await world.runs.mark(run))?.erasure
  if (erasure !== undefined) return runErasedFault(run, erasure)
  const message = `${cannot}: there is no such run. \`sluice run list\` shows the runs there are.`
  return new Fault('NotFound', 'unknown_run', message)
}

/** A run that had META, or HEAD, a moment ago and has not the other: it was erased in between, or its store is damaged. */
export async function goneFault(
  { runs }: Pick<World, 'runs'>,
  run: RunKey,
  missing: 'HEAD' | 'META' = 'HEAD',
): Promise<Fault> {
  const erasure = (await runs.mark(run))?.erasure
  if (erasure !== undefined) return runErasedFault(run, erasure)
  if (missing === 'META') return new Fault('Bug', 'meta_missing', `Run "${run.run_id}" has HEAD but no META.`)
  return new Fault('Bug', 'head_missing', `Run "${run.run_id}" has META but no HEAD.`)
}

/** The block a request names, in the document of its run. */
export function requireBlock(dag: Dag, id: string): Block {
  const found = dag.blocks.find((block) => block.id === id)
  if (found !== undefined) return found
  const ids = dag.blocks.map((block) => block.id)
  const near = suggest(id, ids)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  const more = ids.length > 20 ? ` and ${ids.length - 20} more` : ''
  const message = `Cannot find block "${id}": DAG "${dag.name}" has ${ids.slice(0, 20).join(', ')}${more}.${hint}`
  throw new Fault('NotFound', 'unknown_block', message)
}
