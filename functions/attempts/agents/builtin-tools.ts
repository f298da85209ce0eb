import { Fault } from '../../../shared/errors.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { BlockCall } from '../block-call.ts'
import { storeArtifact } from '../handlers/store-artifact.ts'

interface BuiltinCall {
  readonly call: BlockCall
  readonly attempt: number
  readonly signal: AbortSignal
}

/** The work of a tool of ours; its arguments fit its schema. */
export async function callBuiltin(
  use: string,
  args: Readonly<Record<string, Json>>,
  { call, attempt, signal }: BuiltinCall,
): Promise<Readonly<Record<string, Json>>> {
  const { world, run, block, epoch, item, storage } = call
  if (use === 'artifact.write') {
    const value = new TextEncoder().encode(String(args.text))
    await storage.requireRoom(value.byteLength)
    const place = { world, run, block_id: block.id, epoch, attempt, signal, ...(item === undefined ? {} : { item }) }
    const name = String(args.name)
    await storeArtifact(place, { name, value })
    return { text: `written: ${name}, ${value.byteLength} bytes` }
  }
  throw new Fault('Bug', 'unknown_tool', `There is no tool "${use}".`)
}
