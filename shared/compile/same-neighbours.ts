import type { EdgeList, Edges } from './edges.ts'
import { at } from './zeros.ts'

/** Whether two nodes have the same predecessors, by the lists of what comes before them; or successors, by the others. */
export function sameNeighbours(edges: Edges, side: 'before' | 'after', a: EdgeList, b: EdgeList): boolean {
  if (a.size !== b.size || a.sum !== b.sum) return false
  const { next } = side === 'before' ? edges.in : edges.out
  const ports = side === 'before' ? edges.from : edges.to
  let [i, j] = [a.first, b.first]
  while (i >= 0 && ports[i] === ports[j]) {
    i = at(next, i)
    j = at(next, j)
  }
  return i < 0 || samePorts(portsOf(ports, next, i), portsOf(ports, next, j))
}

/** Lists mostly are in the same order: only what differs is sorted. */
function portsOf(ports: number[], next: number[], first: number): number[] {
  const found: number[] = []
  for (let edge = first; edge >= 0; edge = at(next, edge)) found.push(at(ports, edge))
  return found.sort((a, b) => a - b)
}

function samePorts(a: number[], b: number[]): boolean {
  return a.every((port, i) => port === b[i])
}
