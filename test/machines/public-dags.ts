import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Upstream } from './random-dags.ts'

/** The shape of a public project's workflow: how many blocks, and which waits for which. Nothing else was taken. */
export interface PublicDag {
  /** The workflow system it was written for. */
  readonly system: string
  /** Repository and path. */
  readonly source: string
  readonly upstream: Upstream
}

/** test/machines/public-dags.ndjson: a shape a line, edges as [from, to, from, to, ...]. */
export function publicDags(): readonly PublicDag[] {
  const text = readFileSync(join(import.meta.dirname, 'public-dags.ndjson'), 'utf8')
  return text.trimEnd().split('\n').map(parseLine)
}

function parseLine(line: string): PublicDag {
  const { system, source, n, edges } = JSON.parse(line) as PublicDag & { n: number; edges: readonly number[] }
  const upstream: number[][] = Array.from({ length: n }, () => [])
  edges.forEach((to, i) => {
    if (i % 2 === 1) upstream[to]?.push(edges[i - 1] ?? 0)
  })
  return { system, source, upstream }
}
