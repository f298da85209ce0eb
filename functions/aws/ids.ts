import { randomBytes } from 'node:crypto'
import type { Ids } from '../../shared/world.ts'

/** Random bytes, and the name of this sandbox: a warm one keeps it over many invocations. */
export function createIds(): Ids {
  return { random: (bytes) => randomBytes(bytes), boot: randomBytes(8).toString('hex') }
}
