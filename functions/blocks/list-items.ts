import type { Json } from '../../shared/canonical.ts'
import { LIMITS } from '../../shared/dag/limits.ts'
import { foreachList } from '../../shared/runs/foreach-items.ts'
import type { BlockCall } from './block-call.ts'
import type { Failure } from './end-attempt.ts'
import { storeInputs } from './item-inputs.ts'
import { type PreparedAttempt, prepareAttempt } from './prepare-attempt.ts'

/** A prepared attempt of a foreach block with its list counted and its inputs stored; what is wrong is its failure. */
export async function listItems(call: BlockCall, attempt: number): Promise<PreparedAttempt> {
  const ready = await prepareAttempt(call, attempt)
  const { foreach } = call.block
  if (ready.failure !== undefined || ready.unwanted === true || foreach === undefined) return ready
  const list = foreachList(foreach, ready.values)
  const failure = listFailure(call, list)
  if (failure !== undefined || !Array.isArray(list)) return { ...ready, ...(failure === undefined ? {} : { failure }) }
  return { ...ready, items: { count: list.length, inputs_ref: await storeInputs(call, ready) } }
}

function listFailure({ block }: BlockCall, list: Json | undefined): Failure | undefined {
  const place = `foreach.items of block "${block.id}"`
  if (!Array.isArray(list)) {
    const seen = list === undefined ? 'has no value' : `is ${list === null ? 'null' : typeof list}`
    return failed('items_not_a_list', `${place} ${seen}; it must be a list`)
  }
  if (list.length <= LIMITS.foreach_items) return undefined
  return failed('too_many_items', `${place} has ${list.length} items; at most ${LIMITS.foreach_items} are allowed`)
}

function failed(code: string, reason: string): Failure {
  return { code, reason, retry: false, feedback: [] }
}
