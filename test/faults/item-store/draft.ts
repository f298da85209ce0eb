import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { inside, type Path } from './operands.ts'
import type { Item } from './refusals.ts'

/** An item under change: copies only the maps and lists on the way to what changes. */
export interface Draft {
  /** The map or list that holds the last step of the path, its own copy; undefined where the path leads nowhere. */
  parent(path: Path): AttributeValue | undefined
  /** undefined removes. Places in lists stay what they were until `done`. */
  set(parent: AttributeValue, step: string | number, value: AttributeValue | undefined): void
  /** Frozen. */
  done(): Item
}

export function draftOf(item: Item): Draft {
  const copied = new Set<object>()
  const own = (value: AttributeValue): AttributeValue => {
    if (copied.has(value)) return value
    const copy: AttributeValue = value.M === undefined ? { L: [...(value.L ?? [])] } : { M: { ...value.M } }
    copied.add(copy)
    return copy
  }
  const root = own({ M: item as Record<string, AttributeValue> })
  return {
    parent(path) {
      let at = root
      for (const step of path.slice(0, -1)) {
        const next = inside(at, step)
        if (next?.M === undefined && next?.L === undefined) return undefined
        const copy = own(next)
        put(at, step, copy)
        at = copy
      }
      return at
    },
    set: put,
    done() {
      for (const value of copied) freeze(value)
      return root.M ?? {}
    },
  }
}

function put({ M, L }: AttributeValue, step: string | number, value: AttributeValue | undefined): void {
  // A list may have holes until it is done: removed places, and those between its end and a place past it.
  if (typeof step === 'number') (L as (AttributeValue | undefined)[])[step] = value
  else if (M !== undefined && value === undefined) delete M[step]
  else if (M !== undefined && value !== undefined) M[step] = value
}

function freeze(value: { L?: AttributeValue[]; M?: object }): void {
  if (value.L !== undefined) value.L = Object.freeze(value.L.filter((one) => one !== undefined)) as AttributeValue[]
  Object.freeze(value.M)
  Object.freeze(value)
}
