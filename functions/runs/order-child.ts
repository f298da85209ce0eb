import { canonicalJson, type Json, sha256 } from '../../shared/canonical.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Block } from '../../shared/dag/dag.ts'
import type { World } from '../../shared/world.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { childCaps } from '../blocks/child-caps.ts'
import { earlierChild } from '../blocks/earlier-child.ts'
import { childInputs } from './child-inputs.ts'
import { childOf } from './child-of.ts'
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
  values: Readonly<Record<string, Json>>,
): Promise<ChildOrder> {
  const { world, meta } = call
  await refuseDepth(world, meta, `DAG "${block.dag.name}" for block "${block.id}"`)
  const { dag, dag_hash } = await readDocument(world, await sourceOf(world, block.dag.name))
  refuseOutputs(block, dag)
  const inputs = childInputs(block, values)
  const { text, parts } = compileDag(dag)
  return {
    ...childOf(call, attempt, world.settings.safety.max_run_sec),
    dag,
    dag_hash,
    machine: await world.machine.deployed(text, dag_hash, parts),
    ...(await startValues(world, meta.tenant, dag, { inputs })),
    overrides: {},
    body_hash: sha256(canonicalJson({ name: block.dag.name, inputs })),
    caps: await childCaps(call, dag),
    ...(await earlierChild(call)),
  }
}

/** A deployed document; where none of this name is, the shipped example, so that examples find theirs in any folder. */
async function sourceOf({ documents }: World, name: string) {
  if ((await documents.read(name, 'deployed')) !== undefined) return { name }
  return (await documents.read(name, 'example')) === undefined ? { name } : { example: name }
}
