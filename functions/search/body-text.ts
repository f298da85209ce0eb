import { Fault } from '../../shared/errors.ts'
import type { Entity } from '../../shared/graph/entity.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'

/** Bytes of a body that are looked at: MOST_PASSAGES of them are searched. */
const MOST_BYTES = 4_194_304

/**
 * The text of an entity's body; '' where it has none, where it is no text (UTF-8 without NUL), or where the object is
 * not there: the entity is found by what it says of itself.
 */
export async function bodyText(
  objects: Pick<ObjectStore, 'get'>,
  tenant: string,
  { objectstore_ref }: Pick<Entity, 'objectstore_ref'>,
): Promise<string> {
  if (objectstore_ref === undefined) return ''
  try {
    const body = await objects.get(tenant, objectstore_ref)
    const text = new TextDecoder('utf-8', { fatal: body.byteLength <= MOST_BYTES }).decode(body.subarray(0, MOST_BYTES))
    return text.includes('\0') ? '' : text
  } catch (cause) {
    // One that is wrong stays so: the whole index would wait for it.
    const passes = cause instanceof Fault && cause.name === 'Unavailable'
    if (!passes && (cause instanceof Fault || cause instanceof TypeError)) return ''
    throw cause
  }
}
