import { expect, test } from 'vitest'
import { isDifferent, shownItems, variantSides } from '../../../clients/console/evals/variant-sides.ts'
import type { Round } from '../../../shared/evals/round-file.ts'
import { HEAD, resultLine } from '../evals/result-line.ts'

const judged = (last: string, reason: string) => [{ gate: 'w/judge', type: 'llm_review', first: last, last, reason }]
const round: Round = {
  head: {
    ...HEAD,
    variants: ['a', 'b'].map((name) => ({ name, sha256: name })),
    items: ['i1', 'i2', 'i3'].map((id) => ({ id, sha256: id })),
    asserted: ['w/judge'],
  },
  started: new Map(),
  end: undefined,
  results: [
    resultLine({ variant: 'a', gates: judged('passed', 'names a risk') }),
    resultLine({ variant: 'b', gates: judged('failed', 'names no risk') }),
    resultLine({ variant: 'a', item: 'i2', state: 'failed', reason: 'broke' }),
    resultLine({ variant: 'b', item: 'i2', state: 'failed', reason: 'broke' }),
    resultLine({ variant: 'a', item: 'i3' }),
  ],
}

test('two variants stand side by side, item by item, with the words of judges', () => {
  const { items, counts, missing } = variantSides(round, 'a', 'b')
  expect(missing).toBe(1)
  const [first] = items
  expect([first?.item, first?.passed.a?.passed, first?.passed.b?.passed]).toEqual(['i1', true, false])
  expect(first?.verdicts.map(({ what, a, b }) => [what, a?.words, b?.words])).toEqual([
    ['gate w/judge', 'names a risk', 'names no risk'],
    ['completed', 'completed', 'completed'],
  ])
  expect(counts).toEqual([
    { what: 'passed', a: '1 of 2', b: '0 of 2' },
    { what: 'gate w/judge', a: '1 of 1', b: '0 of 1' },
    { what: 'completed', a: '1 of 2', b: '1 of 2' },
  ])
})

test('items are shown by how they differ, and by who fails them', () => {
  const { items } = variantSides(round, 'a', 'b')
  const names = (shown: Parameters<typeof shownItems>[1]) => shownItems(items, shown).map(({ item }) => item)
  expect([names('all'), names('differ'), names('failed_a'), names('failed_b')]).toEqual([
    ['i1', 'i2'],
    ['i1'],
    ['i2'],
    ['i1', 'i2'],
  ])
  expect(items.map(({ passed }) => isDifferent(passed))).toEqual([true, false])
})

test('items stand in the order of the round, whichever of them ended first', () => {
  const { items } = variantSides({ ...round, results: round.results.toReversed() }, 'a', 'b')
  expect(items.map(({ item }) => item)).toEqual(['i1', 'i2'])
})
