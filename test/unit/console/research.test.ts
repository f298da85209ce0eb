import { describe, expect, test } from 'vitest'
import { citedParts, faultWords, researchRuns } from '../../../clients/console/run/research/research-runs.ts'
import { outputBlocks } from '../../../clients/console/run/session/output-blocks.ts'
import {
  checkedLines,
  isGrounded,
  isMarkedUnsupported,
  supportCountWords,
} from '../../../shared/research/claims/check-synthesis.ts'

const evidence = [
  { entity_id: 'a.b.c.d.country.esp', tier: '0', source: 'entity_state', text: 'Spain has 47 million people.' },
  {
    entity_id: 'a.b.c.d.city.madrid',
    tier: '0',
    source: 'predicate_walk',
    text: 'Madrid is a capital city: that of Spain.',
  },
]

describe('checkedLines()', () => {
  const faultsOf = (text: string) =>
    checkedLines({ topic: 'Where is Madrid?', synthesis: text, degraded: [] }, evidence).flatMap(({ sentences }) =>
      sentences.map(faultWords),
    )

  test('holds each sentence against what it cites', () => {
    expect(faultsOf('“Madrid is a capital city: that of Spain” [2].')).toEqual([[]])
    expect(faultsOf('Spain has 47 million people [1].')).toEqual([[]])
    expect(faultsOf('Spain has 48 million people [1].')).toEqual([['48 million does not occur in what it cites']])
    expect(faultsOf('“Madrid is the largest city of all” [2].')).toEqual([
      ['“Madrid is the largest city of all” does not stand in the evidence'],
    ])
    expect(faultsOf('“Madrid is a capital city: that of Spain” [1].')).toEqual([
      ['“Madrid is a capital city: that of Spain” stands in other evidence than it cites'],
    ])
    expect(faultsOf('Madrid is nice.')).toEqual([['it cites nothing']])
    expect(faultsOf('Madrid is nice [7].')).toEqual([['7 is no evidence of this answer']])
  })

  test('keeps lines in their order; a note claims nothing', () => {
    const synthesis =
      'Spain has 47 million people [1]. Madrid is a capital city [2]. It is a capital city [2].\nNote: put together from quotations and facts by the extractive model; no language model wrote it.\nSpain has many people [1].'
    const lines = checkedLines({ topic: 'Where?', synthesis, degraded: [] }, evidence)
    expect(lines.map(({ sentences }) => sentences.map(({ sentence }) => sentence))).toEqual([
      ['Spain has 47 million people [1].', 'Madrid is a capital city [2].', 'It is a capital city [2].'],
      [],
      ['Spain has many people [1].'],
    ])
    // Nobody can tell who "it" is, and "many" does not stand there.
    const grounded = lines.flatMap(({ sentences }) => sentences.map(isGrounded))
    expect(grounded).toEqual([true, true, false, false])
  })
})

test('what was kept although it is unsupported is shown as that, with why; a heading is a claim', () => {
  const synthesis =
    'Spain has 47 million people [1]. (unsupported) Spain never has 47 million people [1].\n# (unsupported) Spain is lost\nNote: 2 sentences are marked (unsupported): no evidence they cite says them.'
  const lines = checkedLines({ topic: 'Where?', synthesis, degraded: [] }, evidence)
  const said = lines.flatMap(({ sentences }) => sentences)
  expect(said.map(({ status }) => status)).toEqual(['quoted', 'unsupported', 'unsupported'])
  expect(said.map(({ sentence }) => isMarkedUnsupported(sentence))).toEqual([false, true, true])
  expect(said.slice(1).map(faultWords)).toEqual([
    ['no one passage of what it cites says it in these words'],
    ['it cites nothing'],
  ])
  expect(supportCountWords(said)).toBe('1 of 3 sentences quoted, 0 supported, 2 unsupported')
})

test('what the chain says of itself is no claim, and a model that writes the like of it makes one', () => {
  const synthesis =
    'No answer was composed.\nDegraded: no time; no budget.\nWhat was found:\nSpain has 47 million people [1].'
  const countsOf = (degraded: readonly string[]) =>
    checkedLines({ topic: 'Where?', synthesis, degraded }, evidence).map(({ sentences }) => sentences.length)
  expect(countsOf(['no time', 'no budget'])).toEqual([0, 0, 0, 1])
  expect(countsOf([])).toEqual([0, 1, 0, 1])
})

test('citedParts() sets citations apart, with the place of what they name', () => {
  expect(citedParts('Madrid [2; 9] is in Spain [a.b.c.d.country.esp].', evidence)).toEqual([
    'Madrid ',
    { ref: '2', place: 2 },
    { ref: '9', place: undefined },
    ' is in Spain ',
    { ref: 'a.b.c.d.country.esp', place: 1 },
    '.',
  ])
})

describe('researchRuns()', () => {
  const run = { run_id: 'run_a', role: 'root' } as const
  const definitions = [
    { id: 'facts', mode: 'research' },
    { id: 'draft', mode: 'ai' },
    { id: 'later', mode: 'research' },
  ] as const

  test('of a research run is the run itself', () => {
    expect(researchRuns({ run: { ...run, role: 'research_pipeline' }, definitions: [], blocks: {} })).toEqual([
      { run_id: 'run_a', block: undefined },
    ])
  })

  test('of any other run are the children its research blocks have asked by now', () => {
    const blocks = { facts: { child: 'run_b' }, draft: { child: 'run_c' }, later: {} }
    expect(researchRuns({ run, definitions, blocks })).toEqual([{ run_id: 'run_b', block: 'facts' }])
  })
})

test('outputBlocks() tells results from what others read', () => {
  const blocks = [
    { id: 'plan', upstream: [], outputs: { text: {} } },
    { id: 'ask', upstream: ['plan'], outputs: {} },
    { id: 'write', upstream: ['plan', 'ask'], outputs: { text: {} } },
  ]
  expect(outputBlocks(blocks as never)).toEqual({ results: ['write'], between: ['plan'] })
})
