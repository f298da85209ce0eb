import { expect, test } from 'vitest'
import { FAMILIES, randomDags, type Upstream } from '../../machines/random-dags.ts'
import { reduceTransitively } from './reduce-transitively.ts'

test.each(Object.keys(FAMILIES))('%s: reduceTransitively() keeps exactly the edges no other path implies', (family) => {
  const sorted = (upstream: Upstream) => upstream.map((sources) => [...sources].sort((a, b) => a - b))
  const wrong = randomDags(family).filter(
    ({ upstream }) => JSON.stringify(sorted(reduceTransitively(upstream))) !== JSON.stringify(sorted(reduce(upstream))),
  )
  expect(wrong).toEqual([])
})

/** By definition: an edge u -> v stays if no other source of v comes after u. Sources have lower indexes here. */
function reduce(upstream: Upstream): Upstream {
  const ancestors: Set<number>[] = []
  return upstream.map((sources) => {
    ancestors.push(new Set(sources.flatMap((source) => [source, ...(ancestors[source] ?? [])])))
    return [...new Set(sources)].filter((u) => !sources.some((other) => ancestors[other]?.has(u)))
  })
}
