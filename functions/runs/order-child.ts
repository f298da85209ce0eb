import { childOf } from '../../shared/approvals/binding.ts'
import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { BlockCall, BlockInputs } from '../blocks/block-call.ts'
import { childCaps } from '../blocks/child-caps.ts'
import { opensChild } from '../blocks/child-run.ts'
import { earlierChild } from '../blocks/earlier-child.ts'
import { childDocument, childDocuments, childSource } from './child-documents.ts'
import { childInputs } from './child-inputs.ts'
import { childOf as ofAttempt } from './child-of.ts'
import type { RunOrder } from './create-run.ts'
import { readDocument } from './read-document.ts'
import { refuseDepth } from './refuse-depth.ts'
import { refuseOutputs } from './refuse-outputs.ts'
import { startValues } from './start-values.ts'

/** A child run but for the token that waits for it. */
export type ChildOrder = Omit<RunOrder, 'parent'>
type ChildBlock = Extract<Block, { mode: 'dag' }>

/** What an attempt of a `mode: dag` block starts; its faults fail the block. */
export async function orderChild(
  call: BlockCall,
  block: ChildBlock,
  attempt: number,
  { values, decisions = [] }: Pick<BlockInputs, 'values' | 'decisions'>,
): Promise<ChildOrder> {
  const { world, meta } = call
  await refuseDepth(world, meta, `DAG "${block.dag.name}" for block "${block.id}"`)
  const { dag, dag_hash } = await readDocument(world, meta.tenant, await childSource(world, block.dag.name))
  const isBound = decisions.length > 0 || meta.parent?.binding_ref !== undefined
  if (isBound && !opensChild(call, attempt)) await requireSame(call, block)
  refuseOutputs(block, dag)
  const inputs = childInputs(block, values)
  const { text, parts } = compileDag(dag)
  return {
    ...ofAttempt(call, attempt, world.settings.safety.max_run_sec),
    dag,
    dag_hash,
    machine: await world.machine.deployed(text, dag_hash, parts),
    ...(await startValues(world, meta.tenant, dag, { inputs }, {}, 'parent')),
    ...(await childDocuments(world, meta.tenant, dag)),
    overrides: {},
    body_hash: sha256(canonicalJson({ name: block.dag.name, inputs })),
    caps: await childCaps(call, dag),
    ...(await earlierChild(call)),
  }
}

/** Fault Rejected approval_stale: what the decision before it let happen is another document now. */
async function requireSame({ world, meta }: BlockCall, block: ChildBlock): Promise<void> {
  const { name } = block.dag
  if (meta.children === undefined) return
  const now = await childDocument(world, meta.tenant, name)
  if (now?.hash === childOf(block, meta.children)?.hash) return
  const message = `Cannot start DAG "${name}" for block "${block.id}": the document, or one below it, has changed since this run was started, and what people decided is about the one of then. Retry the run, and people are asked again.`
  throw new Fault('Rejected', 'approval_stale', message)
}
