import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAnswerPlace } from '../../bench/research/open-answer-place.ts'

let folder: string
let place: Awaited<ReturnType<typeof openAnswerPlace>>

const AT = '2026-05-01T00:00:00.000Z'
const id = (type: string, name: string) => `acme.test.words.rail.${type}.${name}`
const entity = (
  type: string,
  name: string,
  label: string,
  says: Record<string, string | number>,
  aliases?: string[],
) => {
  const entity_id = id(type, name)
  const triples = Object.entries(says).map(([predicate, object]) => ({
    ...{ subject: entity_id, predicate, object, source: 'test', timestamp: AT, confidence: 1, rule_opaque: false },
  }))
  return { entity_id, label, type, triples, ...(aliases && { aliases }) }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-words-'))
  mkdirSync(join(folder, 'data'))
  place = await openAnswerPlace(join(folder, 'data'))
  await place.import([
    entity('company', 'skane', 'Skane Railways', { 'x.company.founded': 1901 }),
    entity('line', 'coast', 'Coastal Line', { 'x.line.operator': id('company', 'skane'), 'x.line.tariff_eur': 4 }, [
      'C1',
    ]),
    entity('word', 'run', 'run', { 'sluice.word_for': 'x.line.operator' }),
    entity('word', 'fare', 'fare', { 'sluice.word_for': 'x.line.tariff_eur' }, ['ticket price']),
  ])
  await place.index()
})

afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

const lines = async (topic: string) => ((await place.answer(topic)).result?.synthesis ?? '').split('\n')

describe('words of a question that are not those of the graph', () => {
  test.each([
    ['Who operates the Coastal Line?', 'Coastal Line, operator: Skane Railways'],
    ['Who runs the Coastal Line?', 'Coastal Line, operator: Skane Railways'],
    ['What is the fare of the Coastal Line?', 'Coastal Line, tariff eur: 4'],
    ['What is the ticket price of C1?', 'Coastal Line, tariff eur: 4'],
    ['Which lines does Skane Railways run?', '1 line: Coastal Line'],
  ])('%s', async (topic, line) => {
    const [first = ''] = await lines(topic)
    expect(first.replace(/ \[\d+\]/g, '').replace(/\.$/, '')).toBe(line)
  })

  test('a misspelt name is looked for as the only one next to it, in every search, and that is said', async () => {
    const { result, degraded } = await place.answer('Who operates the Costal Line?')
    expect(result?.answers).toBe('yes')
    expect(result?.synthesis).toContain('Coastal Line, operator: Skane Railways')
    expect(degraded).toEqual(['nothing has the word "Costal": "coastal" was looked for'])
    const texts = (result?.decomp_trace?.sub_queries ?? []).flatMap(({ text }) =>
      typeof text === 'string' ? [text] : [],
    )
    expect(texts.length).toBeGreaterThan(0)
    expect(texts.filter((text) => !text.toLowerCase().includes('coastal'))).toEqual([])
  })

  test('a name that nothing is near to is never another one', async () => {
    expect((await lines('Who runs the Harbour Line?'))[0]).toBe(
      'No answer found in the graph for: Who runs the Harbour Line?',
    )
  })
})
