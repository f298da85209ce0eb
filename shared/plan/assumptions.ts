import type { Block, Dag } from '../dag/dag.ts'
import type { Expectations } from './expectations.ts'

/** What the figures rest on besides what was told, in words for people. */
export function assumptionsOf({ blocks }: Dag, expectations: Expectations): readonly string[] {
  const { durations, default_duration, items } = expectations
  const untold = blocks.filter(({ id }) => !Object.hasOwn(durations, id))
  const asked = blocks.filter(({ approval }) => approval !== undefined)
  const unknown = blocks.filter(({ id, foreach }) => typeof foreach?.items === 'string' && !Object.hasOwn(items, id))
  const children = blocks.filter(({ mode }) => mode === 'dag')
  const chains = blocks.filter(({ mode }) => mode === 'research')
  return [
    'nothing fails, nothing is skipped, no bounce is taken; states and calls take no time',
    ...about(`${default_duration} s, as nothing else was said`, untold),
    ...about('people decide at once', asked),
    ...about('the list comes from the run: one item is counted', unknown),
    ...about('a child run, whose own transitions and costs are not counted', children),
    ...about('a research run that finds its answer at once; only its costs are counted', chains),
  ]
}

function about(assumption: string, blocks: readonly Block[]): readonly string[] {
  if (blocks.length === 0) return []
  const ids = blocks.slice(0, 5).map(({ id }) => id)
  const more = blocks.length > 5 ? ` and ${blocks.length - 5} more` : ''
  return [`${assumption}: ${ids.join(', ')}${more}`]
}
