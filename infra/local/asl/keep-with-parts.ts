import { sha256 } from '../../../shared/canonical.ts'
import { bindKnown } from '../../../shared/compile/bind.ts'
import type { MachineText } from '../../../shared/runs/machine.ts'
import type { Journal } from './journal.ts'
import { type Definitions, hashOfPart } from './loaded-definitions.ts'

interface Deps {
  readonly definitions: Definitions
  readonly journal: Journal
}

/**
 * Keeps a machine and its parts, parts first, and answers its id. An older version may have compiled another text of the
 * same document: then this one gets an id of its own, since runs that began on the older text resume with that.
 */
export function keepWithParts(deps: Deps, text: string, hash: string, parts: readonly MachineText[]): string {
  const own = ownHash(deps, text, hash, parts)
  for (const [key, kept] of textsFor(deps.definitions, own, text, parts)) deps.definitions.keep(kept, key)
  return deps.definitions.idOf(own)
}

/** The id `keepWithParts` would answer. */
export function idWithParts(deps: Deps, text: string, hash: string, parts: readonly MachineText[]): string {
  return deps.definitions.idOf(ownHash(deps, text, hash, parts))
}

function ownHash({ definitions, journal }: Deps, text: string, hash: string, parts: readonly MachineText[]): string {
  const isFree = ([key, own]: readonly [string, string]) => (journal.definition(key) ?? own) === own
  const plain = textsFor(definitions, hash, text, parts)
  return plain.every(isFree) ? hash : `${hash}.${sha256(JSON.stringify(plain)).slice(0, 8)}`
}

/** Each text under its key, the placeholders of parts replaced by their ids. */
function textsFor(definitions: Definitions, hash: string, text: string, parts: readonly MachineText[]) {
  const ids = Object.fromEntries(parts.map(({ key }) => [key, definitions.idOf(hashOfPart(hash, key))]))
  const rows = parts.map((part) => [hashOfPart(hash, part.key), bindKnown(part.text, ids)] as const)
  return [...rows, [hash, bindKnown(text, ids)] as const]
}
