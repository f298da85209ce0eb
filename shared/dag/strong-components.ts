/** A graph on plain indexes: `next[v]` lists where arrows lead from v. */
export type Arrows = readonly (readonly number[])[]

interface Search {
  readonly next: Arrows
  /** When a node was first seen (from 1; 0 = not yet), and the earliest open node it leads back to. */
  readonly seen: Uint32Array
  readonly low: Uint32Array
  /** How many of a node's arrows were followed. */
  readonly followed: Uint32Array
  /** Nodes whose component is not closed yet. */
  readonly open: number[]
  readonly isOpen: Uint8Array
  readonly components: number[][]
  clock: number
}

/**
 * The largest sets of nodes that all lead to each other (Tarjan 1972), as a loop: chains of 10,000 are no recursion.
 * Linear; later components lead to earlier ones only.
 */
export function strongComponents(next: Arrows): readonly (readonly number[])[] {
  const search: Search = {
    next,
    seen: new Uint32Array(next.length),
    low: new Uint32Array(next.length),
    followed: new Uint32Array(next.length),
    open: [],
    isOpen: new Uint8Array(next.length),
    components: [],
    clock: 0,
  }
  for (let v = 0; v < next.length; v++) if (search.seen[v] === 0) visit(search, v)
  return search.components
}

function visit(search: Search, root: number): void {
  const path = [root]
  enter(search, root)
  for (let v = path.at(-1); v !== undefined; v = path.at(-1)) {
    const to = search.next[v]?.[search.followed[v] ?? 0]
    if (to === undefined) {
      path.pop()
      leave(search, v, path.at(-1))
      continue
    }
    search.followed[v] = (search.followed[v] ?? 0) + 1
    if (search.seen[to] === 0) {
      enter(search, to)
      path.push(to)
    } else if (search.isOpen[to] === 1) lower(search, v, search.seen[to] ?? 0)
  }
}

function enter(search: Search, v: number): void {
  search.clock += 1
  search.seen[v] = search.clock
  search.low[v] = search.clock
  search.open.push(v)
  search.isOpen[v] = 1
}

function lower({ low }: Search, v: number, seen: number): void {
  low[v] = Math.min(low[v] ?? 0, seen)
}

/** A node that leads back to nothing earlier closes a component: all that was opened since. */
function leave(search: Search, v: number, parent: number | undefined): void {
  const { seen, low, open, isOpen, components } = search
  if (parent !== undefined) lower(search, parent, low[v] ?? 0)
  if (low[v] !== seen[v]) return
  const component = open.splice(open.lastIndexOf(v))
  for (const member of component) isOpen[member] = 0
  components.push(component)
}
