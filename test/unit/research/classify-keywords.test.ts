import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  classifyByKeywords,
  classifyTopic,
  type TopicClassifier,
} from '../../../shared/research/question/classification.ts'
import { describeSearch, mergeHints, retightenedHints } from '../../../shared/research/question/search-hints.ts'
import { expectLinear } from '../gates/linear.ts'

/** A Wednesday. */
const NOW = new Date('2026-11-18T15:30:00.000Z')
const hintsOf = (topic: string) => classifyByKeywords(topic, NOW)?.hints
const time = (topic: string) => hintsOf(topic)?.time_range

describe('time words', () => {
  test.each([
    ['what failed today', '2026-11-18T00:00:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['what failed yesterday?', '2026-11-17T00:00:00.000Z', '2026-11-18T00:00:00.000Z'],
    ['events of the last 3 hours', '2026-11-18T12:30:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['events of the past 2 days', '2026-11-16T15:30:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['events last_24h', '2026-11-17T15:30:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['events in the last 7d', '2026-11-11T15:30:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['Last 2 months of rain', '2026-09-18T15:30:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['last week', '2026-11-09T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    ['last month', '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
    ['last year', '2025-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    ['this week', '2026-11-16T00:00:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['this month', '2026-11-01T00:00:00.000Z', '2026-11-18T15:30:00.000Z'],
    ['this year', '2026-01-01T00:00:00.000Z', '2026-11-18T15:30:00.000Z'],
  ])('%s', (topic, from, to) => expect(time(topic)).toEqual({ from, to }))

  test('a month back from the 31st is the last day of the shorter one', () => {
    const hints = classifyByKeywords('last 1 month', new Date('2026-03-31T10:00:00.000Z'))?.hints
    expect(hints?.time_range).toEqual({ from: '2026-02-28T10:00:00.000Z', to: '2026-03-31T10:00:00.000Z' })
  })

  test('a Sunday belongs to the week that began on Monday', () => {
    const hints = classifyByKeywords('this week', new Date('2026-11-22T10:00:00.000Z'))?.hints
    expect(hints?.time_range).toMatchObject({ from: '2026-11-16T00:00:00.000Z' })
  })

  test.each(['the last bridge', 'last 0 days', 'todayish', 'the week of 3 hours'])('%s names no time', (topic) =>
    expect(time(topic)).toBeUndefined(),
  )
})

describe('place words', () => {
  test('within R km of LAT,LON is a box around it', () => {
    expect(hintsOf('sensors within 111.32 km of 0, 10')).toEqual({
      geo_bounds: { north: 1, south: -1, east: 11.000152, west: 8.999848 },
    })
  })

  test('metres and miles are distances too', () => {
    const box = (topic: string) => hintsOf(topic)?.geo_bounds as { north: number }
    expect(box('within 500 m of 10,10').north).toBeCloseTo(10 + 0.5 / 111.32, 5)
    expect(box('within 2 miles of 10,10').north).toBeCloseTo(10 + 3.218688 / 111.32, 5)
  })

  test('a box may cross the 180th meridian, and around a pole has every longitude', () => {
    expect(hintsOf('within 200 km of 0,179.5')?.geo_bounds).toMatchObject({ west: 177.702494, east: -178.702494 })
    expect(hintsOf('within 200 km of 89,20')?.geo_bounds).toMatchObject({ north: 90, west: -180, east: 180 })
  })

  test.each(['within 5 km of 95,10', 'within 5 km of 10,190', 'within 5 km of Oslo'])('%s is no box', (topic) =>
    expect(hintsOf(topic)?.geo_bounds).toBeUndefined(),
  )

  test.each([
    ['sensors in zone 4', 'zone 4'],
    ['sensors in the harbour area', 'harbour area'],
    ['what happened in Area north?', 'area north'],
  ])('%s names a zone', (topic, zone) => expect(hintsOf(topic)?.zone).toBe(zone))

  test('the area of a country is no zone', () => expect(hintsOf('What is the area of Norway?')).toBeUndefined())
})

describe('question words', () => {
  test.each<[string, object]>([
    ['path from drone-001 to base', { path_intent: true, path_start_node: 'drone-001' }],
    ['routes between New York and Boston', { path_intent: true, path_start_node: 'New York' }],
    ['How is Norway connected to Peru?', { path_intent: true, path_start_node: 'Norway' }],
    ['what is connected to pump 7?', { path_intent: true, path_start_node: 'pump 7' }],
    ['neighbours of "Sri Lanka"', { path_intent: true, path_start_node: 'Sri Lanka' }],
    ['the shortest path', { path_intent: true }],
    ['drones similar to drone-001', { similarity: true }],
    ['how many drones', { aggregation_type: 'count' }],
    ['sum of the areas', { aggregation_type: 'sum' }],
    ['average speed', { aggregation_type: 'average' }],
    ['lowest temperature', { aggregation_type: 'min' }],
    ['highest temperature', { aggregation_type: 'max' }],
    ['top 5 drones', { aggregation_type: 'top_n', top_n: 5 }],
    ['the 3 largest countries', { aggregation_type: 'max', top_n: 3 }],
  ])('%s', (topic, hints) => expect(hintsOf(topic)).toEqual(hints))
})

describe('classifyKeywords()', () => {
  test('is of tier 0 with confidence 1 and no intent', () => {
    expect(classifyByKeywords('events today', NOW)).toMatchObject({ tier: '0', confidence: 1, intent: '' })
  })

  test('says nothing where no pattern matches', () => {
    expect(classifyByKeywords('Who wrote Faust?', NOW)).toBeUndefined()
  })

  test.each(['within 5 km of ', 'last ', 'path from a ', 'connected to a b ', 'zone '])(
    'takes no longer for more of %j',
    (part) => expectLinear(async (size) => classifyByKeywords(part.repeat(size), NOW), 5_000),
  )
})

describe('classifyTopic()', () => {
  const embedding = { tier: '1', intent: 'author', confidence: 0.8, hints: { entity_kind: 'book' } } as const
  const knows: TopicClassifier = { tier: '1', classify: async () => embedding }
  const silent: TopicClassifier = { tier: '3', classify: async () => undefined }
  const broken: TopicClassifier = { tier: '3', classify: () => Promise.reject(new Error('down')) }

  test('keywords come first, then the further tiers in their order', async () => {
    expect((await classifyTopic('events today', NOW, [knows])).tier).toBe('0')
    expect(await classifyTopic('Who wrote Faust?', NOW, [silent, knows])).toEqual(embedding)
  })

  test('where no tier matched it is tier 0 with confidence 0', async () => {
    const none = { tier: '0', intent: '', confidence: 0, hints: {} }
    expect(await classifyTopic('Who wrote Faust?', NOW, [])).toEqual(none)
    expect(await classifyTopic('Who wrote Faust?', NOW, [silent])).toEqual(none)
  })

  test('a tier that fails is passed over and degrades the output', async () => {
    const degraded_reason = 'classifier tier 3 failed'
    expect(await classifyTopic('Who wrote Faust?', NOW, [broken, knows])).toEqual({ ...embedding, degraded_reason })
    expect(await classifyTopic('Who wrote Faust?', NOW, [broken])).toMatchObject({ tier: '0', degraded_reason })
  })
})

describe('hints', () => {
  test("the caller's pass through, those nobody knows unchanged", () => {
    expect(mergeHints({ colour: 'red', domain: 'geo' }, {}, NOW)).toEqual({ colour: 'red', domain: 'geo' })
  })

  test("recency sets the time range, the topic's own words win", () => {
    const topic = { time_range: { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' } }
    expect(mergeHints({ recency: 'last_24h' }, {}, NOW).time_range).toMatchObject({
      from: '2026-11-17T15:30:00.000Z',
    })
    expect(mergeHints({ recency: 'last_24h' }, topic, NOW).time_range).toEqual(topic.time_range)
    expect(mergeHints({ recency: 'soon' }, {}, NOW)).toEqual({ recency: 'soon' })
  })

  test('entity_kind filters the type, domain the id', () => {
    expect(describeSearch('x', { entity_kind: ' Drone ', domain: 'robotics' })).toEqual({
      text: 'x',
      type: 'drone',
      domain: 'robotics',
      limit: 20,
    })
  })

  test('one that is not of its form is not acted on', () => {
    const hints = {
      time_range: 'today',
      top_n: '5',
      geo_bounds: { north: 99, south: 0, east: 0, west: 0 },
      similarity: 1,
    }
    expect(describeSearch('x', hints)).toEqual({ text: 'x', limit: 20 })
  })

  test('those of a retighten lie over the original ones; none leaves the originals', () => {
    expect(retightenedHints({ a: '1', b: '2' }, { b: '3' })).toEqual({ a: '1', b: '3' })
    expect(retightenedHints({ a: '1' }, {})).toEqual({ a: '1' })
    expect(retightenedHints({ a: '1' }, undefined)).toEqual({ a: '1' })
  })
})

test('a search rebuilt from the hints alone is the same, whenever and however they travelled', () => {
  const part = fc.constantFrom(
    'drones',
    'last 3 hours',
    'today',
    'within 5 km of 59.9,10.7',
    'in zone 4',
    'path from a to b',
    'similar to c',
    'top 7',
    'average',
    'last week',
  )
  const caller = fc.dictionary(
    fc.constantFrom('entity_kind', 'domain', 'recency', 'colour'),
    fc.constantFrom('x', 'today', 'last_24h'),
  )
  const law = fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), caller, (parts, given) => {
    const topic = parts.join(' ')
    const hints = mergeHints(given, classifyByKeywords(topic, NOW)?.hints ?? {}, NOW)
    const first = describeSearch(topic, hints)
    expect(describeSearch(topic, JSON.parse(JSON.stringify(hints)))).toEqual(first)
    for (const key of ['time_range', 'geo_bounds', 'zone'] as const) expect(first[key]).toEqual(hints[key])
  })
  fc.assert(law, { numRuns: 150 })
})
