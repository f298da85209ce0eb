import { canonicalJson, type Json } from '../../shared/canonical.ts'
import { blockLane } from '../../shared/runs/block-lane.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { readProjections } from '../blocks/read-outputs.ts'

/**
 * The values a person is shown, as refs: ports named in `show` (`port` of this block, or `block.port` of an upstream
 * output), else every input of the block.
 */
export async function shownValues(
  call: BlockCall,
  show: readonly string[],
  inputs: Readonly<Record<string, Json>>,
): Promise<Readonly<Record<string, StoredValue>>> {
  const names = show.length > 0 ? show : Object.keys(inputs)
  const shown: Record<string, StoredValue> = {}
  for (const name of names) {
    const value = name.includes('.') ? await upstreamValue(call, name) : await inputValue(call, inputs[name])
    if (value !== undefined) shown[name] = value
  }
  return shown
}

async function inputValue({ world, run }: BlockCall, value: Json | undefined): Promise<StoredValue | undefined> {
  return value === undefined ? undefined : world.objects.put(run.tenant, Buffer.from(canonicalJson(value)))
}

async function upstreamValue(call: BlockCall, name: string): Promise<StoredValue | undefined> {
  const { world, run, index } = call
  const [block = '', port = ''] = name.split('.')
  const at = index.get(block)
  if (at === undefined) return undefined
  const head = await world.runs.head(run, [String(at)])
  const lane = head === undefined ? undefined : blockLane(call, head, block)
  if (lane === undefined || readOrdinal(lane).outcome !== 'completed') return undefined
  return (await readProjections(world, run, new Map([[at, lane]]))).get(at)?.outputs?.[port]
}
