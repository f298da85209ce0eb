import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { type Path, valueAt } from './operands.ts'
import type { Item } from './refusals.ts'

/** The parts of an item the paths name, in their maps; what is not there is left out. Lists are not cut into. */
export function project(item: Item, paths: readonly Path[]): Item {
  const part: Record<string, AttributeValue> = {}
  for (const path of paths) {
    const value = valueAt(item, path)
    if (value === undefined) continue
    if (path.length === 1) part[path[0] ?? ''] = value
    else place(part, path, value)
  }
  return part
}

function place(part: Record<string, AttributeValue>, path: Path, value: AttributeValue): void {
  let at = part
  for (const step of path.slice(0, -1)) {
    const next = at[step]?.M ?? {}
    at[step] = { M: next }
    at = next
  }
  at[path.at(-1) ?? ''] = value
}
