import type { Json } from '../../../shared/canonical.ts'
import type { HandlerCall } from './handler.ts'

const REF = /^objstore:\/\/[^/\s]+\/[0-9a-f]{64}$/

/**
 * The bytes behind a value that is an object ref, or undefined when it is none. The store refuses another tenant's ref.
 * A text that is exactly a ref is one: values carry no type of their own.
 */
export async function readObject(
  call: Pick<HandlerCall, 'world' | 'run'>,
  value: Json,
): Promise<Uint8Array | undefined> {
  if (typeof value !== 'string' || !REF.test(value)) return undefined
  return call.world.objects.get(call.run.tenant, value)
}
