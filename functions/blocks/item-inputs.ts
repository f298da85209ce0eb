import { canonicalJson } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import { foreachList } from '../../shared/runs/foreach-items.ts'
import { begunItems } from './begun-items.ts'
import type { BlockCall, BlockInputs } from './block-call.ts'

/** What items begin with is stored: a context patched later does not move the list under them. */
export async function storeInputs({ storage, run }: BlockCall, inputs: BlockInputs): Promise<string> {
  const { values, context_version } = inputs
  const { ref } = await storage.bounded.objects.put(run.tenant, Buffer.from(canonicalJson({ values, context_version })))
  return ref
}

/** What `storeInputs` wrote: the resolved inputs of a foreach block. */
export async function storedInputs({ world, run }: BlockCall, ref: string): Promise<BlockInputs> {
  const text = Buffer.from(await world.objects.get(run.tenant, ref)).toString('utf8')
  const stored = JSON.parse(text) as Pick<BlockInputs, 'values' | 'context_version'>
  return { ...stored, problems: [] }
}

/** The inputs of one item: those of its block, and the item itself. */
export async function itemInputs(call: BlockCall): Promise<BlockInputs> {
  const { dag, block, item = -1 } = call
  const begun = await begunItems(call)
  const foreach = dag.blocks[block.index]?.foreach
  if (begun === undefined || foreach === undefined) throw notThere(call)
  const inputs = await storedInputs(call, begun.inputs_ref)
  const list = foreachList(foreach, inputs.values)
  const value = Array.isArray(list) ? list[item] : undefined
  if (value === undefined) throw notThere(call)
  return { ...inputs, values: { ...inputs.values, [foreach.as]: value } }
}

function notThere({ block, item }: BlockCall): Fault {
  const message = `Machine and store differ: block "${block.id}" has no item ${item} at work.`
  return new Fault('Bug', 'no_such_item', message)
}
