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
export function keepWithParts(
  { definitions, journal }: Deps,
  text: string,
  hash: string,
  parts: readonly MachineText[],
): string {
  const isFree = ([key, own]: readonly [string, string]) => (journal.definition(key) ?? own) === own
  const plain = textsFor(definitions, hash, text, parts)
  const other = `${hash}.${sha256(JSON.stringify(plain)).slice(0, 8)}`
  const kept = plain.every(isFree) ? plain : textsFor(definitions, other, text, parts)
  for (const [key, own] of kept) definitions.keep(own, key)
  return definitions.idOf(kept === plain ? hash : other)
}

/** Each text under its key, the placeholders of parts replaced by their ids. */
function textsFor(definitions: Definitions, hash: string, text: string, parts: readonly MachineText[]) {
  const ids = Object.fromEntries(parts.map(({ key }) => [key, definitions.idOf(hashOfPart(hash, key))]))
  const rows = parts.map((part) => [hashOfPart(hash, part.key), bindKnown(part.text, ids)] as const)
  return [...rows, [hash, bindKnown(text, ids)] as const]
}
